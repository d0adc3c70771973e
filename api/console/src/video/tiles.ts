/** Which cameras are on a wall, and how they are laid out; both stand in the address. */

export interface TileId {
  deviceId: number;
  camera: number;
}

/** Pictures of a wall at most. */
export const MOST_TILES = 16;
/** From this picture on those without the focus show stills. */
export const STILLS_FROM = 9;

export const LAYOUTS = ["1x1", "2x2", "3x3", "4x4", "1+5"] as const;
export type Layout = (typeof LAYOUTS)[number] | "auto";

/** `12.1`: camera 1 of device 12. */
export function writeTile({ deviceId, camera }: TileId): string {
  return `${deviceId}.${camera}`;
}

export function readTile(text: string): TileId | null {
  const found = /^(\d{1,15})\.(\d{1,3})$/.exec(text);
  if (!found) return null;
  const [deviceId, camera] = [Number(found[1]), Number(found[2])];
  return deviceId > 0 && camera > 0 ? { deviceId, camera } : null;
}

/** The tiles of an address, each once, at most as many as a wall holds. */
export function readTiles(query: URLSearchParams): readonly TileId[] {
  const known = new Set<string>();
  const tiles: TileId[] = [];
  for (const text of query.getAll("tile")) {
    const tile = readTile(text);
    if (!tile || known.has(writeTile(tile)) || tiles.length >= MOST_TILES) continue;
    known.add(writeTile(tile));
    tiles.push(tile);
  }
  return tiles;
}

export function readLayout(query: URLSearchParams): Layout {
  // A plus sign may arrive as a space.
  const text = (query.get("layout") ?? "").replace(" ", "+");
  return LAYOUTS.find((each) => each === text) ?? "auto";
}

/** The address of a wall. */
export function wallAddress(tiles: readonly TileId[], layout: Layout, sound: string): string {
  const query = new URLSearchParams();
  for (const tile of tiles) query.append("tile", writeTile(tile));
  if (layout !== "auto") query.set("layout", layout);
  if (sound) query.set("sound", sound);
  const text = query.toString();
  return text ? `/live?${text}` : "/live";
}

/** Columns of a layout for so many pictures. */
export function columnsOf(layout: Layout, count: number): number {
  if (layout === "1+5") return 3;
  if (layout !== "auto") return Number(layout[0]);
  return Math.max(1, Math.ceil(Math.sqrt(count)));
}

/** The tiles with one moved to the place of another. */
export function moved(tiles: readonly TileId[], from: number, to: number): readonly TileId[] {
  const tile = tiles[from];
  if (!tile || from === to) return tiles;
  const rest = tiles.filter((_, index) => index !== from);
  return [...rest.slice(0, to), tile, ...rest.slice(to)];
}

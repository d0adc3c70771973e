/** Vehicles that would be drawn over each other become one mark; pure, for any number of them. */

/** A place on the world: 0 to 1 from west to east and from north to south (Web Mercator). */
export interface Place {
  x: number;
  y: number;
}

/** A drawn mark: where it is, and the indexes of the places it stands for. */
export interface Mark extends Place {
  members: number[];
  /** Pixels. */
  radius: number;
}

/** West, north, east and south as places; `west` may be below 0 and `east` above 1 at the antimeridian. */
export interface Box {
  west: number;
  north: number;
  east: number;
  south: number;
}

/** Width of the world in pixels at zoom 0. */
export const WORLD_PX = 512;
const CELL_PX = 64;
/** From this zoom on only what overlaps is drawn as one. */
const APART_ZOOM = 12;
const SINGLE_RADIUS = 12;
/** Marks may overlap by this part of the sum of their radii. */
const OVERLAP = 0.2;
/** Two places in such a cell always overlap. */
const SMALL_CELL_PX = Math.floor((2 * SINGLE_RADIUS * (1 - OVERLAP)) / Math.SQRT2);
/** Latitude where the Web Mercator world ends. */
const MOST_LATITUDE = 85.05;

/** Radius in pixels of a mark for `count` vehicles. */
export function radiusOf(count: number): number {
  if (count === 1) return SINGLE_RADIUS;
  return count < 10 ? 15 : count < 100 ? 18 : count < 1000 ? 22 : 26;
}

/** The place of a longitude and latitude in degrees. */
export function placeOf(longitude: number, latitude: number): Place {
  const kept = Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, latitude));
  const sine = Math.sin((kept * Math.PI) / 180);
  return { x: longitude / 360 + 0.5, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

/** Longitude and latitude in degrees of a place. */
export function degreesOf({ x, y }: Place): [longitude: number, latitude: number] {
  return [(x - 0.5) * 360, (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI];
}

/**
 * The marks of all places at a zoom. Cells are fixed to the world and to whole zooms, so the marks do not depend on
 * what part of the map is seen. A mark stands at the mean of its cell's places; one that overlaps a larger one by more
 * than a fifth joins that, which stays where it is.
 */
export function cluster(places: readonly Place[], zoom: number): Mark[] {
  const level = Math.max(0, Math.floor(zoom));
  const size = WORLD_PX * 2 ** level;
  const marks = inCells(places, size / (level < APART_ZOOM ? CELL_PX : SMALL_CELL_PX));
  return joined(marks, size);
}

/** Marks in the box, or in the same box one world to the east or west. */
export function within(marks: readonly Mark[], { west, north, east, south }: Box): Mark[] {
  const across = (x: number) =>
    (x >= west && x <= east) || (x - 1 >= west && x - 1 <= east) || (x + 1 >= west && x + 1 <= east);
  return marks.filter(({ x, y }) => y >= north && y <= south && across(x));
}

/** The box that is larger by a quarter of its width and height on each side. */
export function widened({ west, north, east, south }: Box): Box {
  const [x, y] = [(east - west) / 4, (south - north) / 4];
  return { west: west - x, north: north - y, east: east + x, south: south + y };
}

function inCells(places: readonly Place[], cells: number): Mark[] {
  const found = new Map<number, Mark>();
  for (const [index, { x, y }] of places.entries()) {
    const key = keyOf(x, y, cells);
    const mark = found.get(key);
    if (!mark) {
      found.set(key, { x, y, members: [index], radius: 0 });
      continue;
    }
    mark.members.push(index);
    mark.x += (x - mark.x) / mark.members.length;
    mark.y += (y - mark.y) / mark.members.length;
  }
  const marks = [...found.values()];
  for (const mark of marks) mark.radius = radiusOf(mark.members.length);
  return marks;
}

function joined(marks: Mark[], size: number): Mark[] {
  // No two marks overlap beyond this distance, so a mark's neighbors are in the nine cells around it.
  const cells = size / (2 * radiusOf(Number.POSITIVE_INFINITY));
  const grid = new Map<number, Set<Mark>>();
  for (const mark of marks) {
    const key = keyOf(mark.x, mark.y, cells);
    const there = grid.get(key);
    if (there) there.add(mark);
    else grid.set(key, new Set([mark]));
  }
  const left = new Set(marks);
  const largestFirst = [...marks].sort((one, other) => (isLarger(one, other) ? -1 : 1));
  for (const each of largestFirst) {
    let mark = each;
    while (left.has(mark)) {
      const other = overlapping(mark, grid, cells, size);
      if (!other) break;
      const [kept, gone] = isLarger(mark, other) ? [mark, other] : [other, mark];
      for (const member of gone.members) kept.members.push(member);
      kept.radius = radiusOf(kept.members.length);
      left.delete(gone);
      grid.get(keyOf(gone.x, gone.y, cells))?.delete(gone);
      mark = kept;
    }
  }
  return [...left];
}

function overlapping(
  mark: Mark,
  grid: ReadonlyMap<number, ReadonlySet<Mark>>,
  cells: number,
  size: number,
): Mark | undefined {
  const step = 1 / cells;
  for (const y of [mark.y - step, mark.y, mark.y + step]) {
    for (const x of [mark.x - step, mark.x, mark.x + step]) {
      for (const other of grid.get(keyOf(x, y, cells)) ?? []) {
        const distance = Math.hypot(other.x - mark.x, other.y - mark.y) * size;
        if (other !== mark && distance < (other.radius + mark.radius) * (1 - OVERLAP)) return other;
      }
    }
  }
  return undefined;
}

/** The order of marks; it does not depend on the order of the places unless two marks are at one place. */
function isLarger(one: Mark, other: Mark): boolean {
  const more = one.members.length - other.members.length;
  return (more || one.x - other.x || one.y - other.y) > 0;
}

/** A number for the cell of a place; there are at most 2²⁶ columns, so that rows do not run into each other. */
function keyOf(x: number, y: number, cells: number): number {
  return Math.floor(y * cells) * 2 ** 26 + Math.floor(x * cells);
}

/** What a layer over the outlines is made of: sources and layers of MapLibre, and pictures (docs/console.md#map). */

import { addProtocol, type LayerSpecification, type SourceSpecification } from "maplibre-gl";
import type { Protocol } from "pmtiles";
import { HttpStatus, Unreadable } from "./layerProblem";
import { loadSprite, type Sprite } from "./sprite";
import { overlayOf, PREFIX } from "./styleOverlay";

const TILES = `${PREFIX}tiles`;

export interface Overlay {
  sources: Record<string, SourceSpecification>;
  layers: LayerSpecification[];
  /** Pictures of the style; null if it has none, or if they cannot be read. */
  sprite: Promise<Sprite | null>;
}

/** What was read of styles, by URL and language: themes and places of the page show them again and again. */
const known = new Map<string, Overlay>();
let protocol: Protocol | null = null;

/** Read what is at an address. Throws what `problemOf` knows. */
export async function loadOverlay(
  url: string,
  dark: boolean,
  language: string,
  signal: AbortSignal,
): Promise<Overlay> {
  const path = url.replace(/[?#].*$/, "");
  if (path.endsWith(".pmtiles")) return fileOverlay(new URL(url, location.origin).href, dark, language);
  if (/\{[zxy]\}/.test(url)) {
    return /\.(mvt|pbf)$/.test(path)
      ? vectorOverlay({ type: "vector", tiles: [url], maxzoom: 15 }, dark, language)
      : rasterOverlay({ type: "raster", tiles: [url], tileSize: 256, maxzoom: 19 });
  }
  const key = `${language} ${url}`;
  const before = known.get(key);
  if (before) return before;
  // Nobody learns from where the map is looked at.
  const answer = await fetch(url, { signal, referrerPolicy: "no-referrer", credentials: "omit" });
  if (!answer.ok) throw new HttpStatus(answer.status);
  const style = overlayOf(await json(answer), answer.url || url, language);
  const found = { ...style, sprite: loadSprite(style.sprites) };
  known.set(key, found);
  return found;
}

async function json(answer: Response): Promise<unknown> {
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable("no JSON");
  }
}

async function fileOverlay(url: string, dark: boolean, language: string): Promise<Overlay> {
  const { PMTiles, Protocol, TileType } = await import("pmtiles");
  if (!protocol) {
    protocol = new Protocol();
    addProtocol("pmtiles", protocol.tile);
  }
  const archive = protocol.get(url) ?? new PMTiles(url);
  protocol.add(archive);
  const { tileType } = await archive.getHeader();
  const source = { url: `pmtiles://${url}` };
  return tileType === TileType.Mvt
    ? vectorOverlay({ type: "vector", ...source }, dark, language)
    : rasterOverlay({ type: "raster", tileSize: 256, ...source });
}

function rasterOverlay(source: SourceSpecification): Overlay {
  const layer: LayerSpecification = { id: TILES, type: "raster", source: TILES };
  return { sources: { [TILES]: source }, layers: [layer], sprite: Promise.resolve(null) };
}

/** Vector tiles in the schema of Protomaps. */
async function vectorOverlay(source: SourceSpecification, dark: boolean, language: string): Promise<Overlay> {
  const { layers, namedFlavor } = await import("@protomaps/basemaps");
  const drawn = layers(TILES, namedFlavor(dark ? "dark" : "light"), { lang: language.split("-")[0] ?? "en" });
  return {
    sources: { [TILES]: source },
    // A file often covers one region: the background would hide the world around it.
    layers: drawn
      .filter(({ type }) => type !== "background")
      .map((layer) => ({ ...layer, id: PREFIX + layer.id })),
    sprite: Promise.resolve(null),
  };
}

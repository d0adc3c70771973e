/** What lies under the vehicles: the map without tiles, or what `[map]` of the settings says (docs/console.md#map). */

import { addProtocol, type SourceSpecification, type StyleSpecification } from "maplibre-gl";
import type { Colors } from "./colors";
import { allowed, type MapPreferences } from "./mapPreferences";
import { loadPointsOfInterest } from "./pointsOfInterest";
import { loadWorld, type World, worldLayers, worldSources } from "./world";

/** `/console/map.json`. */
interface MapSettings {
  tiles: string | null;
  attribution: string | null;
  /** Path of a PMTiles file on this server. */
  file: string | null;
}

type TilesKind = "none" | "style" | "raster" | "vector";

/** The base map of a server, in the language of a reader. */
export interface Base {
  settings: MapSettings;
  kind: TilesKind;
  tiles: SourceSpecification | null;
  world: World | null;
  /** Points of interest, or null. */
  places: GeoJSON.FeatureCollection | null;
}

/** Load the base map: the settings, what the reader prefers, and the data of the map without tiles. */
export async function loadBase(language: string, preferences: MapPreferences): Promise<Base> {
  const answer = await fetch(`${import.meta.env.BASE_URL}map.json`);
  if (!answer.ok) throw new Error(`map.json: ${answer.status}`);
  const settings = (await answer.json()) as MapSettings;
  const url = allowed(preferences.places, settings.tiles, location.origin);
  const tiles = allowed(preferences.tiles, settings.tiles, location.origin) ?? settings.tiles;
  const [under, places] = await Promise.all([
    loadUnder({ ...settings, tiles }, language),
    url ? loadPointsOfInterest(url) : null,
  ]);
  return { ...under, places };
}

async function loadUnder(settings: MapSettings, language: string): Promise<Omit<Base, "places">> {
  const path = settings.tiles?.replace(/[?#].*$/, "") ?? "";
  if (path.endsWith(".json")) return { settings, kind: "style", tiles: null, world: null };
  if (settings.tiles) {
    const vector = /\.(mvt|pbf)$/.test(path);
    const tiles: SourceSpecification = vector
      ? { type: "vector", tiles: [settings.tiles], maxzoom: 15 }
      : { type: "raster", tiles: [settings.tiles], tileSize: 256, maxzoom: 19 };
    return { settings, kind: vector ? "vector" : "raster", tiles, world: null };
  }
  // A file often covers one region: the world stays under it.
  const world = await loadWorld(language);
  if (!settings.file) return { settings, kind: "none", tiles: null, world };
  const { PMTiles, Protocol, TileType } = await import("pmtiles");
  const url = new URL(settings.file, location.origin).href;
  const archive = new PMTiles(url);
  const { tileType } = await archive.getHeader();
  const protocol = new Protocol();
  protocol.add(archive);
  addProtocol("pmtiles", protocol.tile);
  const vector = tileType === TileType.Mvt;
  const source = { url: `pmtiles://${url}` };
  return {
    settings,
    kind: vector ? "vector" : "raster",
    tiles: vector ? { type: "vector", ...source } : { type: "raster", tileSize: 256, ...source },
    world,
  };
}

/** The style of a base map in these colors, or the address of one. */
export async function styleOf(
  base: Base,
  colors: Colors,
  language: string,
): Promise<StyleSpecification | string> {
  if (base.kind === "style" && base.settings.tiles) return base.settings.tiles;
  const style: StyleSpecification = {
    version: 8,
    transition: { duration: 0, delay: 0 },
    sources: worldSources(base.world),
    layers: worldLayers(colors, base.kind === "none"),
  };
  if (!base.tiles) return style;
  style.sources.tiles = base.tiles;
  if (base.kind === "raster") {
    style.layers.push({ id: "tiles", type: "raster", source: "tiles" });
    return style;
  }
  const { layers, namedFlavor } = await import("@protomaps/basemaps");
  const flavor = namedFlavor(colors.dark ? "dark" : "light");
  const drawn = layers("tiles", flavor, { lang: language });
  // The background would hide the world where a file has nothing.
  style.layers.push(...drawn.filter((layer) => layer.type !== "background"));
  return style;
}

/** What lies under the vehicles: the outlines of the world, and the layers that may be shown over them (docs/console.md#map). */

import type { StyleSpecification } from "maplibre-gl";
import type { Colors } from "./colors";
import { allowed, type MapPreferences } from "./mapPreferences";
import { loadPointsOfInterest } from "./pointsOfInterest";
import { loadWorld, type World, worldLayers, worldSources } from "./world";

/** What may be shown over the outlines. */
export interface Layer {
  /** Null for the one that is shown first. */
  name: string | null;
  /** URL of a style of MapLibre, of tiles, or of a PMTiles file; a path is one of this server. */
  light: string;
  /** The URL in the dark theme. */
  dark: string;
  /** What the map names as its source, besides what the style says itself. */
  attribution: string | null;
}

/** `/console/map.json`. */
interface MapSettings {
  layers: Layer[];
  /** The other servers that the policy of the page lets a map load from. */
  hosts: string[];
  /** Whether guests of share links may ask them. */
  shareTiles: boolean;
}

/** The base map of a server, in the language of a reader. */
export interface Base {
  layers: readonly Layer[];
  world: World;
  /** Points of interest, or null. */
  places: GeoJSON.FeatureCollection | null;
}

/** Load the base map: the settings, what the reader prefers, and the outlines of the world. */
export async function loadBase(
  language: string,
  preferences: MapPreferences,
  isGuest: boolean,
): Promise<Base> {
  const answer = await fetch(`${import.meta.env.BASE_URL}map.json`);
  if (!answer.ok) throw new Error(`map.json: ${answer.status}`);
  const settings = (await answer.json()) as MapSettings;
  const hosts = isGuest && !settings.shareTiles ? [] : settings.hosts;
  const url = allowed(preferences.places, hosts, location.origin);
  const tiles = allowed(preferences.tiles, hosts, location.origin);
  const [world, places] = await Promise.all([loadWorld(language), url ? loadPointsOfInterest(url) : null]);
  return { layers: layersOf(settings, hosts, tiles), world, places };
}

/** The layers whose hosts may be asked; `preferred` is the URL of the one that the reader has in place of the first. */
function layersOf({ layers }: MapSettings, hosts: readonly string[], preferred: string | null): Layer[] {
  const own = preferred ? [{ name: null, light: preferred, dark: preferred, attribution: null }] : [];
  const found = preferred ? layers.filter(({ name }) => name !== null) : layers;
  const isAllowed = (url: string) => allowed(url, hosts, location.origin) !== null;
  return [...own, ...found.filter(({ light, dark }) => isAllowed(light) && isAllowed(dark))];
}

/** The style of the outlines in these colors. */
export function styleOf(base: Base, colors: Colors): StyleSpecification {
  return {
    version: 8,
    transition: { duration: 0, delay: 0 },
    sources: worldSources(base.world),
    layers: worldLayers(colors),
  };
}

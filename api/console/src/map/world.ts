/** The map without tiles: outlines of countries, their names and cities, all from this server. */

import type { LayerSpecification, SourceSpecification } from "maplibre-gl";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import type { Colors } from "./colors";
import { measure, plane } from "./rings";

/** From this zoom on the finer outlines are drawn. */
export const FINE_ZOOM = 5;
/** Letters come from the fonts of the reader's computer: the style has no `glyphs`. */
const FONT = ["sans-serif"];
/** Water, land and borders, and the names above them. */
export const WORLD_LAYERS = ["water", "land", "borders"] as const;
export const WORLD_LABELS = ["cities", "countries"] as const;
/** A layer that draws nothing: what is shown over the outlines lies below it, what the map is about above. */
export const END_OF_WORLD = "end-of-world";
/** A country's name is shown from this zoom on, by its area in square degrees. */
const NAME_ZOOMS = [
  [250, 1.5],
  [60, 2.5],
  [15, 3.5],
  [4, 4.5],
  [0, 5.5],
] as const;
/** The same for cities, by thousands of people. */
const CITY_ZOOMS = [
  [5000, 2],
  [2000, 3],
  [1000, 4],
  [500, 5],
  [250, 6],
  [0, 7],
] as const;

type Outlines = Topology<{ countries: GeometryCollection }>;

interface Cities {
  name: string[];
  thousands: number[];
  longitude: number[];
  latitude: number[];
}

/** What the sources of the map are made of. */
export interface World {
  outlines: GeoJSON.FeatureCollection;
  names: GeoJSON.FeatureCollection;
  cities: GeoJSON.FeatureCollection;
}

/** Read outlines, cities and names in the language. */
export async function loadWorld(language: string): Promise<World> {
  const [outlines, cities, codes] = await Promise.all([
    loadOutlines(false),
    read<Cities>("cities"),
    read<Record<string, string>>("countries"),
  ]);
  return { outlines, names: namesOf(outlines, codes, language), cities: citiesOf(cities) };
}

/** Read the outlines of countries, coarse or fine. */
export async function loadOutlines(fine: boolean): Promise<GeoJSON.FeatureCollection> {
  const topology = await read<Outlines>(fine ? "countries-50m" : "countries-110m");
  const { features } = feature(topology, topology.objects.countries);
  return collection(
    features.map((each) => {
      const { geometry } = each;
      const polygons =
        geometry.type === "Polygon"
          ? [geometry.coordinates]
          : geometry.type === "MultiPolygon"
            ? geometry.coordinates
            : [];
      const coordinates = polygons.map(plane).filter((rings) => rings.length > 0);
      return { ...each, geometry: { type: "MultiPolygon", coordinates } };
    }),
  );
}

/** The sources of the world. */
export function worldSources({ outlines, names, cities }: World): Record<string, SourceSpecification> {
  return {
    outlines: { type: "geojson", data: outlines, maxzoom: 8, tolerance: 0.2 },
    countries: { type: "geojson", data: names, maxzoom: 8 },
    cities: { type: "geojson", data: cities, maxzoom: 9 },
  };
}

/** Water, land and borders, the names of countries and cities, and `END_OF_WORLD`. */
export function worldLayers(colors: Colors): LayerSpecification[] {
  const halo = { "text-halo-color": colors["map-land"], "text-halo-width": 1.2 };
  return [
    { id: "water", type: "background", paint: { "background-color": colors["map-water"] } },
    { id: "land", type: "fill", source: "outlines", paint: { "fill-color": colors["map-land"] } },
    {
      id: "borders",
      type: "line",
      source: "outlines",
      layout: { "line-join": "round" },
      paint: { "line-color": colors["map-border"], "line-width": 0.8 },
    },
    {
      id: "cities",
      type: "symbol",
      source: "cities",
      minzoom: 2,
      filter: [">=", ["zoom"], ["get", "from"]],
      layout: {
        "icon-image": "city",
        "text-field": ["get", "name"],
        "text-font": FONT,
        "text-size": ["interpolate", ["linear"], ["get", "thousands"], 100, 13, 5000, 15],
        "text-anchor": "left",
        "text-offset": [0.45, 0],
        "symbol-sort-key": ["-", ["get", "thousands"]],
      },
      paint: { "text-color": colors["map-name"], ...halo },
    },
    {
      id: "countries",
      type: "symbol",
      source: "countries",
      minzoom: 1,
      maxzoom: 8,
      filter: [">=", ["zoom"], ["get", "from"]],
      layout: {
        "text-field": ["get", "name"],
        "text-font": FONT,
        "text-size": ["interpolate", ["linear"], ["zoom"], 1, 13, 6, 16],
        "text-letter-spacing": 0.08,
        "text-max-width": 7,
        "symbol-sort-key": ["-", ["get", "area"]],
      },
      paint: { "text-color": colors["map-name"], "text-opacity": 0.85, ...halo },
    },
    { id: END_OF_WORLD, type: "background", layout: { visibility: "none" } },
  ];
}

/** A name for each country at the middle of its largest part. */
function namesOf(
  outlines: GeoJSON.FeatureCollection,
  codes: Record<string, string>,
  language: string,
): GeoJSON.FeatureCollection {
  const names = new Intl.DisplayNames([language, "en"], { type: "region", fallback: "none" });
  const found: GeoJSON.Feature[] = [];
  for (const { id, geometry } of outlines.features) {
    const code = codes[String(id)];
    const name = code ? names.of(code) : undefined;
    if (!name || geometry.type !== "MultiPolygon") continue;
    const parts = geometry.coordinates.map(([ring]) => measure(ring ?? []));
    const largest = parts.reduce((best, part) => (part.area > best.area ? part : best));
    const { area, longitude, latitude } = largest;
    found.push(point(longitude, latitude, { name, area, from: zoomOf(area, NAME_ZOOMS) }));
  }
  return collection(found);
}

function citiesOf({ name, thousands, longitude, latitude }: Cities): GeoJSON.FeatureCollection {
  return collection(
    name.map((each, index) => {
      const people = thousands[index] ?? 0;
      const from = zoomOf(people, CITY_ZOOMS);
      return point(longitude[index] ?? 0, latitude[index] ?? 0, { name: each, thousands: people, from });
    }),
  );
}

function zoomOf(value: number, zooms: readonly (readonly [number, number])[]): number {
  return zooms.find(([least]) => value >= least)?.[1] ?? 22;
}

/** A feature at a place in degrees. */
export function point(
  longitude: number,
  latitude: number,
  properties: GeoJSON.GeoJsonProperties,
): GeoJSON.Feature {
  return { type: "Feature", properties, geometry: { type: "Point", coordinates: [longitude, latitude] } };
}

/** A collection of features. */
export function collection(features: GeoJSON.Feature[]): GeoJSON.FeatureCollection {
  return { type: "FeatureCollection", features };
}

async function read<T>(name: string): Promise<T> {
  const answer = await fetch(`${import.meta.env.BASE_URL}world/${name}.json`);
  if (!answer.ok) throw new Error(`${name}.json: ${answer.status}`);
  return (await answer.json()) as T;
}

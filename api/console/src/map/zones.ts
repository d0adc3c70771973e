/** The layers of zones on a map, and which of them lies under the pointer. */

import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
} from "maplibre-gl";
import { boundsOf, distanceBetween, geometryOf, middleOf, widthAtZoom0 } from "./areaGeometry";
import type { Colors } from "./colors";
import { collection, point } from "./world";
import { sizeOf, type Zone } from "./zoneShapes";

/** What of the zones is drawn. */
export type ZonesShown = "all" | "shapes" | "none";

const SOURCE = "zones";
const CORRIDORS_SOURCE = "zone-corridors";
const NAMES_SOURCE = "zone-names";
const NAMES_ZOOM = 9;
/** A zone has its name once its box is this wide or high on the map. */
const NAMED_PX = 14;
/** Tiles of corridors have what lies a whole tile beside them, and end at this zoom, so that wide lines are not cut off. */
const CORRIDOR_TILES = { maxzoom: 14, buffer: 512 } as const;
const LAYERS = ["zone-fill", "zone-corridors", "zone-edges", "zone-corridor-edges", "zone-names"] as const;
const TOUCHED = ["zone-fill", "zone-corridors"];

/** The layers of zones of one map. */
export class ZoneLayers {
  #zones: readonly Zone[] = [];
  #shown: ZonesShown = "all";

  /** They are drawn under the layer `below`, which exists whenever `add` is called. */
  constructor(
    private readonly map: MapLibre,
    private readonly below?: string,
  ) {}

  /** Add them to a style that has just been loaded; `font` is what it has letters of. */
  add(colors: Colors, font: string[]): void {
    const empty = { type: "geojson", data: collection([]) } as const;
    this.map.addSource(SOURCE, { ...empty, buffer: 16 });
    this.map.addSource(CORRIDORS_SOURCE, { ...empty, ...CORRIDOR_TILES });
    this.map.addSource(NAMES_SOURCE, { ...empty, buffer: 64 });
    for (const layer of layersOf(colors, font)) this.map.addLayer(layer, this.below);
    this.#draw();
    this.show(this.#shown);
  }

  set(zones: readonly Zone[]): void {
    if (zones === this.#zones) return;
    this.#zones = zones;
    this.#draw();
  }

  show(shown: ZonesShown): void {
    this.#shown = shown;
    for (const id of LAYERS) {
      if (!this.map.getLayer(id)) continue;
      const visible = shown === "all" || (shown === "shapes" && id !== "zone-names");
      this.map.setLayoutProperty(id, "visibility", visible ? "visible" : "none");
    }
  }

  /** The smallest zone at pixels of the map; null if there is none. */
  under(at: { x: number; y: number }): number | null {
    const layers = TOUCHED.filter((id) => this.map.getLayer(id));
    if (layers.length === 0) return null;
    const found = this.map.queryRenderedFeatures([at.x, at.y], { layers });
    const sizes = found.map(({ properties }) => [Number(properties.size), Number(properties.id)] as const);
    sizes.sort(([one], [other]) => one - other);
    return sizes[0]?.[1] ?? null;
  }

  #draw(): void {
    const isCorridor = ({ shape }: Zone) => shape.kind === "corridor";
    const [areas, corridors] = [
      this.#zones.filter((each) => !isCorridor(each)),
      this.#zones.filter(isCorridor),
    ];
    this.#set(SOURCE, areas.map(featureOf));
    this.#set(CORRIDORS_SOURCE, corridors.map(featureOf));
    this.#set(NAMES_SOURCE, this.#zones.map(nameOf));
  }

  #set(source: string, features: GeoJSON.Feature[]): void {
    void this.map.getSource<GeoJSONSource>(source)?.setData(collection(features));
  }
}

function featureOf(zone: Zone): GeoJSON.Feature {
  const { id, name, color, shape, halfWidth } = zone;
  const width = shape.kind === "corridor" ? widthAtZoom0(2 * halfWidth, middleOf(shape)[0]) : 0;
  const properties = { id, name, color, width, size: sizeOf(zone) };
  return { type: "Feature", properties, geometry: geometryOf(shape) };
}

/**
 * The point at which the name of a zone stands, and the zoom from which on it does: above an area, since vehicles stand
 * in the middle of it.
 */
function nameOf({ name, shape, halfWidth }: Zone): GeoJSON.Feature {
  const inLine = shape.kind === "corridor" ? shape.line[Math.floor(shape.line.length / 2)] : undefined;
  const [west, south, east, north] = boundsOf(shape, halfWidth);
  const [latitude, longitude] = inLine ?? [north, middleOf(shape)[1]];
  const meters = Math.max(
    distanceBetween([south, west], [south, east]),
    distanceBetween([south, west], [north, west]),
  );
  const from = Math.log2(NAMED_PX / Math.max(1e-9, widthAtZoom0(meters, latitude)));
  return point(longitude, latitude, { name, from, anchor: inLine ? "center" : "bottom" });
}

function layersOf(colors: Colors, font: string[]): LayerSpecification[] {
  const color: ExpressionSpecification = ["to-color", ["get", "color"], colors.accent];
  // Pixels double with each zoom.
  const width: ExpressionSpecification = [
    "interpolate",
    ["exponential", 2],
    ["zoom"],
    0,
    ["get", "width"],
    24,
    ["*", ["get", "width"], 2 ** 24],
  ];
  const round = { "line-cap": "round", "line-join": "round" } as const;
  return [
    {
      id: "zone-fill",
      type: "fill",
      source: SOURCE,
      paint: { "fill-color": color, "fill-opacity": 0.16, "fill-antialias": false },
    },
    {
      id: "zone-corridors",
      type: "line",
      source: CORRIDORS_SOURCE,
      layout: round,
      paint: { "line-color": color, "line-opacity": 0.22, "line-width": width },
    },
    {
      id: "zone-edges",
      type: "line",
      source: SOURCE,
      paint: { "line-color": color, "line-width": 1.5, "line-opacity": 0.9 },
    },
    {
      id: "zone-corridor-edges",
      type: "line",
      source: CORRIDORS_SOURCE,
      layout: round,
      paint: { "line-color": color, "line-width": 1.5, "line-gap-width": width, "line-opacity": 0.9 },
    },
    {
      id: "zone-names",
      type: "symbol",
      source: NAMES_SOURCE,
      minzoom: NAMES_ZOOM,
      filter: [">=", ["zoom"], ["get", "from"]],
      layout: {
        "text-field": ["get", "name"],
        "text-font": font,
        "text-size": 13,
        "text-max-width": 9,
        "text-anchor": ["get", "anchor"],
      },
      paint: { "text-color": colors.ink, "text-halo-color": colors.card, "text-halo-width": 1.4 },
    },
  ];
}

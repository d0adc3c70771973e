/** The layers of zones on a map, and which of them lies under the pointer. */

import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibre,
} from "maplibre-gl";
import { geometryOf, middleOf, widthAtZoom0 } from "./areaGeometry";
import type { Colors } from "./colors";
import { collection, point } from "./world";
import { sizeOf, type Zone } from "./zoneShapes";

/** What of the zones is drawn. */
export type ZonesShown = "all" | "shapes" | "none";

const SOURCE = "zones";
const NAMES_SOURCE = "zone-names";
const NAMES_ZOOM = 9;
/** Tiles of zones beyond this zoom are cut from it, so that wide corridors are not cut off. */
const TILES_ZOOM = 14;
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
    this.map.addSource(SOURCE, {
      type: "geojson",
      data: collection([]),
      maxzoom: TILES_ZOOM,
      buffer: 512,
    });
    this.map.addSource(NAMES_SOURCE, { type: "geojson", data: collection([]) });
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
    void this.map.getSource<GeoJSONSource>(SOURCE)?.setData(collection(this.#zones.map(featureOf)));
    void this.map.getSource<GeoJSONSource>(NAMES_SOURCE)?.setData(collection(this.#zones.map(nameOf)));
  }
}

function featureOf(zone: Zone): GeoJSON.Feature {
  const { id, name, color, shape, halfWidth } = zone;
  const width = shape.kind === "corridor" ? widthAtZoom0(2 * halfWidth, middleOf(shape)[0]) : 0;
  const properties = { id, name, color, width, size: sizeOf(zone) };
  return { type: "Feature", properties, geometry: geometryOf(shape) };
}

/** The point at which the name of a zone stands. */
function nameOf({ name, shape }: Zone): GeoJSON.Feature {
  const inLine = shape.kind === "corridor" ? shape.line[Math.floor(shape.line.length / 2)] : undefined;
  const [latitude, longitude] = inLine ?? middleOf(shape);
  return point(longitude, latitude, { name });
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
  const corridors = ["==", ["geometry-type"], "LineString"] as ExpressionSpecification;
  const round = { "line-cap": "round", "line-join": "round" } as const;
  return [
    {
      id: "zone-fill",
      type: "fill",
      source: SOURCE,
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "fill-color": color, "fill-opacity": 0.16, "fill-antialias": false },
    },
    {
      id: "zone-corridors",
      type: "line",
      source: SOURCE,
      filter: corridors,
      layout: round,
      paint: { "line-color": color, "line-opacity": 0.22, "line-width": width },
    },
    {
      id: "zone-edges",
      type: "line",
      source: SOURCE,
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "line-color": color, "line-width": 1.5, "line-opacity": 0.9 },
    },
    {
      id: "zone-corridor-edges",
      type: "line",
      source: SOURCE,
      filter: corridors,
      layout: round,
      paint: { "line-color": color, "line-width": 1.5, "line-gap-width": width, "line-opacity": 0.9 },
    },
    {
      id: "zone-names",
      type: "symbol",
      source: NAMES_SOURCE,
      minzoom: NAMES_ZOOM,
      layout: {
        "text-field": ["get", "name"],
        "text-font": font,
        "text-size": 12,
        "text-max-width": 9,
      },
      paint: { "text-color": colors.ink, "text-halo-color": colors.card, "text-halo-width": 1.4 },
    },
  ];
}

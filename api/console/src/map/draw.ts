/** Drawing and reshaping one area on a map, with Terra Draw. */

import type { Map as MapLibre } from "maplibre-gl";
import {
  type GeoJSONStoreFeatures,
  type HexColor,
  TerraDraw,
  TerraDrawCircleMode,
  TerraDrawLineStringMode,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
} from "terra-draw";
import { TerraDrawMapLibreGLAdapter } from "terra-draw-maplibre-gl-adapter";
import type { Place, Shape, ShapeKind } from "./area";
import { circleRing, coordinatesOf, distanceBetween } from "./areaGeometry";

const MODES = { circle: "circle", polygon: "polygon", corridor: "linestring" } as const;
/** Decimals of a degree that Terra Draw takes. */
const PRECISION = 9;
const AREA = 1;
/** More points than these are not given handles: each would be a mark of its own. */
const MOST_HANDLES = 300;

/** `done` is false while the mouse still moves. */
type OnShape = (shape: Shape, done: boolean) => void;

/** Whether a shape can be changed by handles: one ring, and not too many points. */
export function isReshapable(shape: Shape): boolean {
  if (shape.kind === "circle") return shape.radius > 0;
  if (shape.kind === "corridor") return shape.line.length <= MOST_HANDLES;
  return shape.rings.length === 1 && (shape.rings[0]?.length ?? 0) <= MOST_HANDLES;
}

/** One area that is drawn anew or changed by its handles; `color` is `#rrggbb`. */
export class Drawing {
  readonly #draw: TerraDraw;
  /** Whether changes are those of the program rather than of the reader. */
  #isSetting = false;

  constructor(
    map: MapLibre,
    color: HexColor,
    private readonly onShape: OnShape,
  ) {
    this.#draw = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map, coordinatePrecision: PRECISION }),
      idStrategy: { getId: nextId, isValidId: (id) => typeof id === "number" },
      modes: modesIn(color),
    });
    this.#draw.start();
    this.#draw.on("change", (_, type) => {
      if (type !== "styling" && type !== "delete") this.#report(false);
    });
    this.#draw.on("finish", () => this.#report(true));
  }

  /** Let the reader draw a shape in place of what is there. */
  begin(kind: ShapeKind): void {
    this.#set(() => this.#draw.clear());
    this.#draw.setMode(MODES[kind]);
  }

  /** Show a shape with handles, or none; false if it cannot have any. */
  show(shape: Shape | null): boolean {
    return this.#set(() => {
      this.#draw.clear();
      this.#draw.setMode("select");
      if (!shape || !isReshapable(shape)) return false;
      const [added] = this.#draw.addFeatures([featureOf(shape)]);
      if (!added?.valid) return false;
      this.#draw.selectFeature(AREA);
      return true;
    });
  }

  close(): void {
    this.#draw.stop();
  }

  #set<T>(change: () => T): T {
    this.#isSetting = true;
    try {
      return change();
    } finally {
      this.#isSetting = false;
    }
  }

  #report(done: boolean): void {
    if (this.#isSetting) return;
    const feature = this.#draw
      .getSnapshot()
      .find(({ geometry, properties }) => geometry.type !== "Point" && isArea(properties.mode));
    const shape = feature && shapeOf(feature);
    if (shape) this.onShape(shape, done);
  }
}

let last = AREA;
function nextId(): number {
  last += 1;
  return last;
}

function isArea(mode: unknown): boolean {
  return mode === "circle" || mode === "polygon" || mode === "linestring";
}

function modesIn(color: HexColor) {
  const fill = { fillColor: color, fillOpacity: 0.2, outlineColor: color, outlineWidth: 2 };
  const reshaping = { draggable: true, midpoints: true, deletable: true };
  return [
    new TerraDrawCircleMode({ styles: fill, drawInteraction: "click-move-or-drag" }),
    new TerraDrawPolygonMode({ styles: { ...fill, closingPointColor: color } }),
    new TerraDrawLineStringMode({ styles: { lineStringColor: color, lineStringWidth: 3 } }),
    new TerraDrawSelectMode({
      allowManualDeselection: false,
      keyEvents: { deselect: null, delete: null, rotate: null, scale: null },
      flags: {
        circle: { feature: { draggable: true, coordinates: { resizable: "center-fixed" } } },
        polygon: { feature: { draggable: true, coordinates: reshaping } },
        linestring: { feature: { draggable: true, coordinates: reshaping } },
      },
      styles: {
        selectedPolygonColor: color,
        selectedPolygonFillOpacity: 0.2,
        selectedPolygonOutlineColor: color,
        selectedPolygonOutlineWidth: 2,
        selectedLineStringColor: color,
        selectedLineStringWidth: 3,
        selectionPointColor: "#ffffff",
        selectionPointOutlineColor: color,
        selectionPointOutlineWidth: 2,
        selectionPointWidth: 6,
        midPointColor: color,
        midPointOutlineColor: "#ffffff",
        midPointOutlineWidth: 1,
        midPointWidth: 4,
      },
    }),
  ];
}

function featureOf(shape: Shape): GeoJSONStoreFeatures {
  const mode = MODES[shape.kind];
  const feature = { id: AREA, type: "Feature" } as const;
  if (shape.kind === "corridor") {
    const coordinates = shape.line.map(coordinatesOf).map(limited);
    return { ...feature, properties: { mode }, geometry: { type: "LineString", coordinates } };
  }
  const ring =
    shape.kind === "circle"
      ? circleRing(shape.center, shape.radius)
      : (shape.rings[0] ?? []).map(coordinatesOf);
  const coordinates = [[...ring, ...ring.slice(0, 1)].map(limited)];
  const properties = {
    mode,
    ...(shape.kind === "circle" && { radiusKilometers: shape.radius / 1000 }),
  };
  return { ...feature, properties, geometry: { type: "Polygon", coordinates } };
}

/** The shape of a feature; null while it has too few points. */
function shapeOf({ geometry, properties }: GeoJSONStoreFeatures): Shape | null {
  if (geometry.type === "LineString") {
    const line = distinct(geometry.coordinates.map(placeOf));
    return line.length < 2 ? null : { kind: "corridor", line };
  }
  if (geometry.type !== "Polygon") return null;
  const ring = (geometry.coordinates[0] ?? []).slice(0, -1).map(placeOf);
  if (properties.mode === "circle") return circleOf(ring);
  const corners = distinct(ring);
  return corners.length < 3 ? null : { kind: "polygon", rings: [corners] };
}

/** Terra Draw's circles are round on the map: in its projection the center is the middle. */
function circleOf(ring: readonly Place[]): Shape | null {
  const latitudes = ring.map(([latitude]) => latitude);
  const longitudes = ring.map(([, longitude]) => longitude);
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const longitude = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
  const center: Place = [latitudeAt((mercator(south) + mercator(north)) / 2), longitude];
  // Halfway between the nearest and the farthest point, since the map stretches what is north.
  const radius =
    (distanceBetween(center, [south, longitude]) + distanceBetween(center, [north, longitude])) / 2;
  return radius > 0 ? { kind: "circle", center, radius: Math.round(radius * 10) / 10 } : null;
}

function mercator(latitude: number): number {
  return Math.asinh(Math.tan((latitude * Math.PI) / 180));
}

function latitudeAt(y: number): number {
  return (Math.atan(Math.sinh(y)) * 180) / Math.PI;
}

/** Without points that repeat the one before, as the point under the mouse does. */
function distinct(places: readonly Place[]): Place[] {
  return places.filter((place, index) => {
    const before = places[index - 1];
    return before === undefined || before[0] !== place[0] || before[1] !== place[1];
  });
}

function placeOf([longitude = 0, latitude = 0]: readonly number[]): Place {
  return [latitude, longitude];
}

function limited(coordinates: readonly number[]): number[] {
  return coordinates.map((each) => Number(each.toFixed(PRECISION)));
}

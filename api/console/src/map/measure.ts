/** A line that the reader lays over the map to measure a way. */

import type { GeoJSONSource, Map as MapLibre } from "maplibre-gl";
import type { Place } from "./area";
import { coordinatesOf, lengthOf } from "./areaGeometry";
import type { Drawn } from "./baseMap";
import type { Colors } from "./colors";
import { collection, point } from "./world";

const SOURCE = "measure";

/** While it is not empty, clicks on the map add points to it. */
export class Measure implements Drawn {
  #line: readonly Place[] = [];

  constructor(private readonly map: MapLibre) {}

  get isActive(): boolean {
    return this.#line.length > 0;
  }

  add(colors: Colors): void {
    this.map.addSource(SOURCE, { type: "geojson", data: collection([]) });
    this.map.addLayer({
      id: "measure-line",
      type: "line",
      source: SOURCE,
      filter: ["==", ["geometry-type"], "LineString"],
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": colors.ink, "line-width": 2.5, "line-dasharray": [2, 1.5] },
    });
    this.map.addLayer({
      id: "measure-points",
      type: "circle",
      source: SOURCE,
      filter: ["==", ["geometry-type"], "Point"],
      paint: {
        "circle-radius": 5,
        "circle-color": colors.card,
        "circle-stroke-color": colors.ink,
        "circle-stroke-width": 2,
      },
    });
    this.#draw();
  }

  /** Take the points of a line; none ends it. Returns its length in meters. */
  set(line: readonly Place[]): number {
    this.#line = line;
    this.#draw();
    return lengthOf(line);
  }

  /** The line with a further point. */
  with(place: Place): readonly Place[] {
    return [...this.#line, place];
  }

  /** The line without its last point. */
  without(): readonly Place[] {
    return this.#line.slice(0, -1);
  }

  #draw(): void {
    const points = this.#line.map(([latitude, longitude]) => point(longitude, latitude, {}));
    const geometry = { type: "LineString", coordinates: this.#line.map(coordinatesOf) } as const;
    const line: GeoJSON.Feature[] =
      this.#line.length > 1 ? [{ type: "Feature", properties: {}, geometry }] : [];
    void this.map.getSource<GeoJSONSource>(SOURCE)?.setData(collection([...line, ...points]));
  }
}

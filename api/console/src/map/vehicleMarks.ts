/** Vehicles on a map that is about something else: joined as on the map of the fleet, without names to click. */

import type { Map as MapLibre } from "maplibre-gl";
import type { BaseMap, Drawn } from "./baseMap";
import { type Box, placeOf } from "./clusters";
import type { Colors } from "./colors";
import { Marks } from "./marks";
import { addVehicleLayers, type Vehicle } from "./vehicles";
import { collection } from "./world";

/** What part of the world a map shows. */
export function boxOf(map: MapLibre): Box {
  const bounds = map.getBounds();
  const { x: west, y: south } = placeOf(bounds.getWest(), bounds.getSouth());
  const { x: east, y: north } = placeOf(bounds.getEast(), bounds.getNorth());
  return { west, north, east, south };
}

export class VehicleMarks implements Drawn {
  readonly #marks = new Marks();

  constructor(
    private readonly base: BaseMap,
    private readonly language: string,
  ) {
    const { map } = base;
    base.onSharp(() => this.#draw());
    map.on("move", () => {
      if (!this.#marks.isDrawnAt(map.getZoom())) this.#draw();
    });
    map.on("moveend", () => this.#draw());
  }

  add(colors: Colors, font: string[]): void {
    addVehicleLayers(this.base.map, colors, font);
    this.#draw();
  }

  set(vehicles: readonly Vehicle[]): void {
    this.#marks.set(vehicles);
    this.#draw();
  }

  #draw(): void {
    if (!this.base.isReady || this.base.light.active) return;
    const { map } = this.base;
    const features = this.#marks.features(boxOf(map), map.getZoom(), this.language);
    this.base.setData("vehicles", collection(features));
  }
}

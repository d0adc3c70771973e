/** The selected vehicle, with its track of the last minutes as the page has seen it. */

import { propertiesOf, type Vehicle } from "./vehicles";
import { collection, point } from "./world";

const TAIL_MS = 5 * 60_000;
const TAIL_POINTS = 300;

export class SelectedVehicle {
  vehicle: Vehicle | null = null;
  #tail: { place: [longitude: number, latitude: number]; at: number }[] = [];

  /** Take another vehicle, or the same at its next place; true if it is another one. */
  set(vehicle: Vehicle | null, now: number): boolean {
    const isOther = vehicle?.id !== this.vehicle?.id;
    this.vehicle = vehicle;
    if (isOther) this.#tail = [];
    if (!vehicle) return isOther;
    const { longitude, latitude } = vehicle;
    const last = this.#tail.at(-1)?.place;
    if (last?.[0] !== longitude || last[1] !== latitude) {
      this.#tail.push({ place: [longitude, latitude], at: now });
    }
    this.#tail = this.#tail.filter(({ at }) => at > now - TAIL_MS).slice(-TAIL_POINTS);
    return isOther;
  }

  mark(): GeoJSON.FeatureCollection {
    const { vehicle } = this;
    return collection(
      vehicle ? [point(vehicle.longitude, vehicle.latitude, propertiesOf(vehicle, true))] : [],
    );
  }

  tail(): GeoJSON.FeatureCollection {
    const coordinates = this.#tail.map(({ place }) => place);
    if (coordinates.length < 2) return collection([]);
    return collection([{ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates } }]);
  }
}

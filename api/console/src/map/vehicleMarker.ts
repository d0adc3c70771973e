/** Where a vehicle was at an instant: an element above the map, so that moving it draws no frame of the map. */

import { type Map as MapLibre, Marker } from "maplibre-gl";
import type { Whereabouts } from "./track";

const SVG = "http://www.w3.org/2000/svg";

export class VehicleMarker {
  readonly #element: HTMLElement;
  readonly #marker: Marker;
  #isShown = false;

  /** `title` is its name for screen readers. */
  constructor(
    private readonly map: MapLibre,
    title: string,
  ) {
    this.#element = elementOf(title);
    this.#marker = new Marker({ element: this.#element, rotationAlignment: "map" });
  }

  /** Show it at a place; null takes it away. */
  set(at: Whereabouts | null): void {
    if (!at) {
      if (this.#isShown) this.#marker.remove();
      this.#isShown = false;
      return;
    }
    const { longitude, latitude, course, speed, stale } = at;
    this.#marker.setLngLat([longitude, latitude]).setRotation(speed > 0 ? course : 0);
    this.#element.classList.toggle("moving", speed > 0);
    this.#element.classList.toggle("stale", stale);
    if (!this.#isShown) this.#marker.addTo(this.map);
    this.#isShown = true;
  }
}

function elementOf(title: string): HTMLElement {
  const element = document.createElement("div");
  element.className = "route-marker";
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", title);
  const arrow = document.createElementNS(SVG, "svg");
  arrow.setAttribute("viewBox", "0 0 24 24");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", "M12 2.5L19.5 20L12 16L4.5 20Z");
  arrow.append(path);
  element.append(arrow);
  return element;
}

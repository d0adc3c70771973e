/** The place under the mouse, at the edge of the map. Fingers have the menu of a place. */

import type { IControl, Map as MapLibre, MapMouseEvent } from "maplibre-gl";

export class PointerPlace implements IControl {
  readonly #element = document.createElement("div");
  #map: MapLibre | null = null;
  #frame = 0;
  readonly #move = ({ lngLat, originalEvent }: MapMouseEvent) => {
    if ("pointerType" in originalEvent && originalEvent.pointerType === "touch") return;
    const { lng, lat } = lngLat.wrap();
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#write(this.text(lat, lng)));
  };
  readonly #leave = () => {
    cancelAnimationFrame(this.#frame);
    this.#write("");
  };

  /** `text` writes a place in degrees. */
  constructor(private readonly text: (latitude: number, longitude: number) => string) {
    this.#element.className = "map-pointer";
    // It changes with each movement of the mouse; the menu of a place copies it.
    this.#element.ariaHidden = "true";
    this.#element.hidden = true;
  }

  onAdd(map: MapLibre): HTMLElement {
    this.#map = map;
    map.on("mousemove", this.#move);
    map.on("mouseout", this.#leave);
    return this.#element;
  }

  onRemove(): void {
    this.#leave();
    this.#map?.off("mousemove", this.#move);
    this.#map?.off("mouseout", this.#leave);
    this.#element.remove();
    this.#map = null;
  }

  #write(text: string): void {
    this.#element.textContent = text;
    this.#element.hidden = text === "";
  }
}

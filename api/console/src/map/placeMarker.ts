/** The mark of a place that was searched for. */

import { type Map as MapLibre, Marker } from "maplibre-gl";

export class PlaceMarker {
  #marker: Marker | null = null;

  constructor(private readonly map: MapLibre) {}

  /** Mark a place in degrees; null takes the mark away. */
  set(place: { latitude: number; longitude: number } | null): void {
    this.#marker?.remove();
    this.#marker = null;
    if (!place) return;
    const element = document.createElement("div");
    element.className = "place-marker";
    // The bar over the map names it.
    element.ariaHidden = "true";
    this.#marker = new Marker({ element, anchor: "bottom" });
    this.#marker.setLngLat([place.longitude, place.latitude]).addTo(this.map);
  }
}

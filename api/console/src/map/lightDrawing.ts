/** Light drawing: what a computer without a graphics card can draw while the map moves (docs/console.md#map). */

import type { Map as MapLibre } from "maplibre-gl";

const LIGHT_RATIO = 0.35;
/** Light drawing begins when this many frames of a movement took longer in the median. */
const FRAMES = 10;
const SLOW_MS = 40;
const SHARP_AFTER_MS = 150;
/** Layers of ours stay, so that vehicles do not vanish. */
const KEPT = "vehicle-";
/** What is not drawn meanwhile: letters, and the edges of zones, each of which is many short lines. */
const OPACITIES = {
  symbol: ["text-opacity", "icon-opacity"],
  edges: ["line-opacity"],
  other: [],
} as const;

/** Watches how long frames take, and lowers resolution and labels of movements once they are slow. */
export class LightDrawing {
  /** Whether the map is drawn lightly at this moment, so that its data had better stay as it is. */
  active = false;
  #slow = false;
  #frames: number[] = [];
  #last = 0;
  #timer = 0;
  #hidden: (() => void)[] = [];

  /** `sharp` is called when the map is drawn fully again. */
  constructor(
    private readonly map: MapLibre,
    private readonly sharp: () => void,
  ) {
    map.on("movestart", () => {
      this.#frames = [];
      this.#last = 0;
    });
    map.on("move", () => this.#begin());
    map.on("render", () => this.#measure());
    map.on("moveend", () => this.#end());
  }

  /** Stop all that waits. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    // A jump, or another size of the map, has no frames.
    if (!this.#slow || !this.map.isMoving()) return;
    clearTimeout(this.#timer);
    if (this.active) return;
    this.active = true;
    this.map.setPixelRatio(LIGHT_RATIO * window.devicePixelRatio);
    this.#hideLabels();
  }

  #measure(): void {
    if (this.#slow || !this.map.isMoving()) return;
    const now = performance.now();
    if (this.#last > 0) this.#frames.push(now - this.#last);
    this.#last = now;
    if (this.#frames.length < FRAMES) return;
    const median = [...this.#frames].sort((one, other) => one - other)[FRAMES / 2] ?? 0;
    this.#slow = median > SLOW_MS;
    this.#frames = [];
  }

  #end(): void {
    if (!this.active) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      if (this.map.isMoving()) return;
      this.active = false;
      for (const show of this.#hidden) show();
      this.#hidden = [];
      this.map.setPixelRatio(window.devicePixelRatio);
      this.sharp();
    }, SHARP_AFTER_MS);
  }

  /** By their opacity: another visibility would have the tiles laid out anew. */
  #hideLabels(): void {
    for (const id of this.map.getLayersOrder()) {
      if (id.startsWith(KEPT)) continue;
      const type = this.map.getLayer(id)?.type;
      const properties = OPACITIES[id === "zone-edges" ? "edges" : type === "symbol" ? "symbol" : "other"];
      for (const property of properties) {
        const before = this.map.getPaintProperty(id, property);
        this.map.setPaintProperty(id, property, 0);
        this.#hidden.push(() => {
          // The style may have become another one meanwhile.
          if (this.map.getLayer(id)) this.map.setPaintProperty(id, property, before);
        });
      }
    }
  }
}

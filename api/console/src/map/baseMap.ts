/**
 * A MapLibre map of its own style: outlines, a layer over them, theme, light drawing and finer outlines. What else is
 * drawn others add.
 */

import {
  type GeoJSONSource,
  Map as MapLibre,
  type MapOptions as MapLibreOptions,
  type MapSourceDataEvent,
  ScaleControl,
  setWorkerUrl,
} from "maplibre-gl";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import { type Base, type Layer, styleOf } from "./base";
import { BaseLayer, type LayerState } from "./baseLayer";
import { type Colors, colorsNow, onTheme } from "./colors";
import { LightDrawing } from "./lightDrawing";
import "./map.css";
import { PointerPlace } from "./pointerPlace";
import { PointsOfInterest } from "./pointsOfInterest";
import { MapUnavailable } from "./unavailable";
import { drawIcon, iconScale, isIcon } from "./vehicles";
import { collection, FINE_ZOOM, loadOutlines } from "./world";

// The policy allows workers from files only.
setWorkerUrl(workerUrl);

/** What part of the world is seen: degrees, and MapLibre's zoom. */
export interface View {
  zoom: number;
  latitude: number;
  longitude: number;
}

export interface BaseMapOptions {
  base: Base;
  /** What is shown over the outlines at first. */
  layer: Layer | null;
  /** What is shown over them is another thing now. */
  onLayer: (state: LayerState) => void;
  language: string;
  /** Null for the whole world. */
  view: View | null;
  /** Name of the map for screen readers. */
  title: string;
  /** Units of the scale. */
  units: "metric" | "imperial" | "nautical";
  /** A place in degrees as the reader writes it. */
  placeText: (latitude: number, longitude: number) => string;
  /** Whether the map is on pages that are printed. */
  printable?: boolean;
}

/** What draws on a map. */
export interface Drawn {
  /** Add sources and layers to a style that has just been loaded; `font` is what names are written in. */
  add(colors: Colors, font: string[]): void;
  /** The style is about to be replaced by that of another theme. */
  leave?(): void;
}

const WHOLE_WORLD: View = { zoom: 1.2, latitude: 25, longitude: 10 };
export const MOST_ZOOM = 20;
const FONT = ["sans-serif"];
/** An empty source, which tells a style that has what is drawn from one that was just loaded. */
const MARK = "drawn";

/** Make a map in an element. Throws `MapUnavailable` if the browser has no WebGL. */
export async function openBaseMap(container: HTMLElement, options: BaseMapOptions): Promise<BaseMap> {
  const colors = colorsNow();
  const { zoom, latitude, longitude } = options.view ?? WHOLE_WORLD;
  const map = make({
    container,
    style: styleOf(options.base, colors),
    center: [longitude, latitude],
    zoom,
    minZoom: 0,
    maxZoom: MOST_ZOOM,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    fadeDuration: 0,
    locale: { "Map.Title": options.title, "ScaleControl.NauticalMiles": "nmi" },
    // What was drawn last stays there for the printer.
    canvasContextAttributes: { preserveDrawingBuffer: options.printable ?? false },
  });
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  return new BaseMap(map, options, colors);
}

function make(settings: MapLibreOptions): MapLibre {
  try {
    return new MapLibre(settings);
  } catch (cause) {
    throw new MapUnavailable("no WebGL", { cause });
  }
}

export class BaseMap {
  readonly light: LightDrawing;
  /** Whether the style is loaded, so that sources can be set. */
  isReady = false;
  readonly #drawn: Drawn[] = [];
  /** What the present style has of it. */
  readonly #added = new Set<Drawn>();
  readonly #endTheme: () => void;
  readonly #layer: BaseLayer;
  #isFine = false;
  #sharp = () => {};

  constructor(
    readonly map: MapLibre,
    private readonly options: BaseMapOptions,
    private colors: Colors,
  ) {
    this.light = new LightDrawing(map, () => this.#sharp());
    this.#endTheme = onTheme(() => this.#changeTheme());
    this.#layer = new BaseLayer(map, options.language, (state) => {
      this.#refine();
      options.onLayer(state);
    });
    this.#layer.set(options.layer);
    map.setMissingStyleImageResolver(async (name) => {
      if (!isIcon(name) && (await this.#layer.draw(name))) return;
      const icon = drawIcon(name, this.colors);
      if (icon && !map.hasImage(name)) map.addImage(name, icon, { pixelRatio: iconScale });
    });
    map.on("error", (event) => {
      if (!this.#layer.hears(event)) console.error(event.error);
    });
    map.addControl(new ScaleControl({ maxWidth: 90, unit: options.units }), "bottom-right");
    map.addControl(new PointerPlace(options.placeText), "bottom-right");
    // Until the outlines are there is only water; what is shown over them may never come.
    map.getContainer().setAttribute("aria-busy", "true");
    const look = ({ sourceId, isSourceLoaded }: MapSourceDataEvent) => {
      if (sourceId !== "outlines" || !isSourceLoaded) return;
      map.off("sourcedata", look);
      map.once("render", () => map.getContainer().removeAttribute("aria-busy"));
    };
    map.on("sourcedata", look);
    map.on("style.load", () => this.#begin());
    map.on("webglcontextlost", () => {
      this.isReady = false;
    });
    map.on("moveend", () => this.#refine());
    if (options.base.places) this.addDrawn(new PointsOfInterest(map, options.base.places));
  }

  /**
   * Have something drawn, now and in each style that follows; what comes later is drawn above. The returned function
   * ends that; what was drawn is removed by its `leave`.
   */
  addDrawn(drawn: Drawn): () => void {
    this.#drawn.push(drawn);
    if (this.isReady) this.#add(drawn);
    return () => {
      const index = this.#drawn.indexOf(drawn);
      if (index < 0) return;
      this.#drawn.splice(index, 1);
      this.#added.delete(drawn);
      if (this.isReady) drawn.leave?.();
    };
  }

  /** Call `sharp` whenever light drawing has ended, since data is not set meanwhile. */
  onSharp(sharp: () => void): void {
    this.#sharp = sharp;
  }

  /** Show another layer over the outlines; null for none. */
  setLayer(layer: Layer | null): void {
    this.#layer.set(layer);
  }

  /** Whether there are no tiles, so that there is little to see from near. */
  get withoutTiles(): boolean {
    return this.#layer.isAbsent;
  }

  view(): View {
    const { lng, lat } = this.map.getCenter().wrap();
    return { zoom: this.map.getZoom(), latitude: lat, longitude: lng };
  }

  zoomBy(steps: number): void {
    this.map.easeTo({ zoom: this.map.getZoom() + steps, duration: 200 });
  }

  setData(source: string, data: GeoJSON.FeatureCollection): void {
    void this.map.getSource<GeoJSONSource>(source)?.setData(data);
  }

  close(): void {
    this.#endTheme();
    this.#layer.close();
    this.light.close();
    this.#drawn.length = 0;
    this.isReady = false;
    this.map.remove();
  }

  #begin(): void {
    // After a loss of the graphics context, or of its workers, MapLibre brings back what was added to the style.
    const isRestored = this.map.getSource(MARK) !== undefined;
    if (!isRestored) {
      this.#isFine = false;
      this.#added.clear();
      this.map.addSource(MARK, { type: "geojson", data: collection([]) });
    }
    this.isReady = true;
    this.#refine();
    for (const each of this.#drawn) this.#add(each);
    if (isRestored) this.#sharp();
    else this.#layer.restart(this.colors.dark);
  }

  #add(drawn: Drawn): void {
    if (this.#added.has(drawn)) return;
    this.#added.add(drawn);
    drawn.add(this.colors, FONT);
  }

  #changeTheme(): void {
    this.colors = colorsNow();
    this.isReady = false;
    this.#layer.leave();
    for (const each of this.#drawn) each.leave?.();
    this.map.setStyle(styleOf(this.options.base, this.colors), { diff: false });
  }

  /** Finer outlines, once they are needed. */
  #refine(): void {
    if (this.#isFine || !this.#layer.needsOutlines || this.map.getZoom() < FINE_ZOOM) return;
    this.#isFine = true;
    loadOutlines(true)
      .then((outlines) => this.setData("outlines", outlines))
      // The coarse ones stay; the next movement asks again.
      .catch(() => {
        this.#isFine = false;
      });
  }
}

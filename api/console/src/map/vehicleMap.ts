/** The map of vehicles: draws them over the base map, and says what of them is clicked. */

import {
  type GeoJSONSource,
  Map as MapLibre,
  type MapOptions as MapLibreOptions,
  type MapMouseEvent,
  setWorkerUrl,
} from "maplibre-gl";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import { type Base, styleOf } from "./base";
import { Chosen } from "./chosen";
import { type Box, cluster, degreesOf, placeOf, radiusOf, WORLD_PX } from "./clusters";
import { type Colors, colorsNow, onTheme } from "./colors";
import { LightDrawing } from "./light";
import { Marks } from "./marks";
import "./vehicleMap.css";
import { MapUnavailable } from "./unavailable";
import { addVehicleLayers, drawIcon, iconScale, type SOURCES, type Vehicle } from "./vehicles";
import { collection, FINE_ZOOM, loadOutlines } from "./world";

// The policy allows workers from files only.
setWorkerUrl(workerUrl);

/** What part of the world is seen: degrees, and MapLibre's zoom. */
export interface View {
  zoom: number;
  latitude: number;
  longitude: number;
}

/** What is under the pointer: pixels of the window, degrees, and the vehicles of the mark there. */
export interface Spot {
  x: number;
  y: number;
  longitude: number;
  latitude: number;
  vehicles: readonly Vehicle[];
}

export interface MapHandlers {
  /** A vehicle, or several that stand too near to each other to be drawn apart. */
  onClick: (spot: Spot) => void;
  /** A right click or long press anywhere. */
  onMenu: (spot: Spot) => void;
  /** The reader moved the map; `away` if to another place, so that it cannot follow a vehicle any more. */
  onMove: (view: View, away: boolean) => void;
}

interface MapOptions extends MapHandlers {
  base: Base;
  language: string;
  view: View | null;
  /** Whether the view stays as it is although a vehicle is chosen from the start. */
  keepsView: boolean;
  /** Name of the map for screen readers. */
  title: string;
}

const WHOLE_WORLD: View = { zoom: 1.2, latitude: 25, longitude: 10 };
const MOST_ZOOM = 20;
/** Where a vehicle that is chosen elsewhere is shown at least; without tiles there is little to see so near. */
const CHOSEN_ZOOM = 14;
const CHOSEN_ZOOM_WITHOUT_TILES = 11;
const FIT_ZOOM = 11;
const MARGIN_PX = 60;
/** A finger or mouse may miss a mark by so many pixels. */
const SLACK_PX = 6;
const FONT = ["sans-serif"];

/** Make the map in an element. Throws `MapUnavailable` if the browser has no WebGL. */
export async function openMap(container: HTMLElement, options: MapOptions): Promise<VehicleMap> {
  const colors = colorsNow();
  const style = await styleOf(options.base, colors, options.language);
  const { zoom, latitude, longitude } = options.view ?? WHOLE_WORLD;
  const settings: MapLibreOptions = {
    container,
    style,
    center: [longitude, latitude],
    zoom,
    minZoom: 0,
    maxZoom: MOST_ZOOM,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    fadeDuration: 0,
    locale: { "Map.Title": options.title },
  };
  const map = make(settings);
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  return new VehicleMap(map, options, colors);
}

function make(settings: MapLibreOptions): MapLibre {
  try {
    return new MapLibre(settings);
  } catch (cause) {
    throw new MapUnavailable("no WebGL", { cause });
  }
}

export class VehicleMap {
  #vehicles: readonly Vehicle[] = [];
  readonly #marks = new Marks();
  readonly #chosen = new Chosen();
  /** The vehicle that was clicked on the map itself. */
  #clicked: number | null = null;
  #isPlaced: boolean;
  #isReady = false;
  #isFine = false;
  #asked = false;
  #keepsView: boolean;
  readonly #light: LightDrawing;
  readonly #endTheme: () => void;

  constructor(
    private readonly map: MapLibre,
    private readonly options: MapOptions,
    private colors: Colors,
  ) {
    this.#isPlaced = options.view !== null;
    this.#keepsView = options.keepsView;
    this.#light = new LightDrawing(map, () => this.#draw());
    this.#endTheme = onTheme(() => void this.#changeTheme());
    map.setMissingStyleImageResolver((name) => {
      const icon = drawIcon(name, this.colors);
      if (icon && !map.hasImage(name)) map.addImage(name, icon, { pixelRatio: iconScale });
    });
    map.on("style.load", () => this.#begin());
    map.on("move", () => {
      if (!this.#marks.isDrawnAt(map.getZoom())) this.#draw();
    });
    map.on("moveend", (event) => this.#moved("originalEvent" in event && Boolean(event.originalEvent)));
    map.on("dragstart", () => options.onMove(this.#view(), true));
    map.on("click", (event) => this.#click(event));
    map.on("contextmenu", (event) => {
      event.originalEvent.preventDefault();
      options.onMenu(this.#spot(event));
    });
    map.on("mousemove", (event) => this.#hover(event));
  }

  /** Draw these vehicles; the first ones come into view, unless a view was asked for. */
  setVehicles(vehicles: readonly Vehicle[]): void {
    this.#vehicles = vehicles;
    this.#setMarks();
    if (!this.#isPlaced && !this.#chosen.vehicle) this.fit();
    this.#draw();
  }

  /** Draw one vehicle above all others, with its name and the way of the last minutes. */
  setChosen(vehicle: Vehicle | null, right: number, follow: boolean): void {
    const isOther = this.#chosen.set(vehicle, Date.now());
    if (isOther) this.#setMarks();
    if (vehicle && follow) this.#center(vehicle, right, this.map.getZoom());
    else if (vehicle && isOther && !this.#stays(vehicle, right)) {
      const least = this.options.base.kind === "none" ? CHOSEN_ZOOM_WITHOUT_TILES : CHOSEN_ZOOM;
      this.#center(vehicle, right, Math.max(this.map.getZoom(), least));
    }
    if (isOther) this.#draw();
    else this.#drawChosen();
  }

  /** Bring all vehicles into view. */
  fit(): void {
    const places = this.#vehicles.map(({ longitude, latitude }) => [longitude, latitude] as const);
    if (places.length === 0) return;
    this.#isPlaced = true;
    this.map.fitBounds(boundsOf(places), { padding: MARGIN_PX, maxZoom: FIT_ZOOM, animate: false });
  }

  /** The same by wish of the reader. */
  showAll(): void {
    this.fit();
    this.options.onMove(this.#view(), true);
  }

  zoomBy(steps: number): void {
    this.#asked = true;
    this.map.easeTo({ zoom: this.map.getZoom() + steps, duration: 200 });
  }

  close(): void {
    this.#endTheme();
    this.#light.close();
    this.map.remove();
  }

  #begin(): void {
    const { layers } = this.map.getStyle();
    const other = layers.find((layer) => layer.type === "symbol" && layer.layout?.["text-font"]);
    const font = other?.type === "symbol" ? other.layout?.["text-font"] : undefined;
    addVehicleLayers(this.map, this.colors, Array.isArray(font) ? (font as string[]) : FONT);
    this.#isReady = true;
    this.#isFine = false;
    this.#refine();
    this.#draw();
  }

  async #changeTheme(): Promise<void> {
    this.colors = colorsNow();
    const style = await styleOf(this.options.base, this.colors, this.options.language);
    this.#isReady = false;
    this.map.setStyle(style, { diff: false });
  }

  #view(): View {
    const { lng, lat } = this.map.getCenter().wrap();
    return { zoom: this.map.getZoom(), latitude: lat, longitude: lng };
  }

  #setMarks(): void {
    const chosen = this.#chosen.vehicle?.id;
    this.#marks.set(chosen === undefined ? this.#vehicles : this.#vehicles.filter(({ id }) => id !== chosen));
  }

  #moved(byReader: boolean): void {
    this.#draw();
    this.#refine();
    if (!byReader && !this.#asked) return;
    this.#asked = false;
    this.options.onMove(this.#view(), false);
  }

  /** Finer outlines, once they are needed. */
  #refine(): void {
    if (this.#isFine || !this.options.base.world || this.map.getZoom() < FINE_ZOOM) return;
    this.#isFine = true;
    loadOutlines(true)
      .then((outlines) => this.map.getSource<GeoJSONSource>("outlines")?.setData(outlines))
      // The coarse ones stay; the next movement asks again.
      .catch(() => {
        this.#isFine = false;
      });
  }

  #draw(): void {
    if (!this.#isReady || this.#light.active) return;
    const features = this.#marks.features(this.#box(), this.map.getZoom(), this.options.language);
    this.#setData("vehicles", collection(features));
    this.#drawChosen();
  }

  #drawChosen(): void {
    if (!this.#isReady || this.#light.active) return;
    this.#setData("chosen", this.#chosen.mark());
    this.#setData("tail", this.#chosen.tail());
  }

  #setData(source: (typeof SOURCES)[number], data: GeoJSON.FeatureCollection): void {
    void this.map.getSource<GeoJSONSource>(source)?.setData(data);
  }

  /** Whether a vehicle that is chosen now is seen where it is: after a click on it, or where the address says so. */
  #stays({ id, longitude, latitude }: Vehicle, right: number): boolean {
    const covered = this.map.getContainer().clientWidth - right;
    const isSeen = this.#clicked === id && this.map.project([longitude, latitude]).x < covered;
    const stays = isSeen || this.#keepsView;
    this.#clicked = null;
    this.#keepsView = false;
    return stays;
  }

  /** Bring a vehicle to the middle of what is left of `right` pixels that a panel covers. */
  #center({ longitude, latitude }: Vehicle, right: number, zoom: number): void {
    const { x, y } = placeOf(longitude, latitude);
    this.#isPlaced = true;
    this.map.jumpTo({ center: degreesOf({ x: x + right / 2 / (WORLD_PX * 2 ** zoom), y }), zoom });
  }

  #box(): Box {
    const bounds = this.map.getBounds();
    const { x: west, y: south } = placeOf(bounds.getWest(), bounds.getSouth());
    const { x: east, y: north } = placeOf(bounds.getEast(), bounds.getNorth());
    return { west, north, east, south };
  }

  #spot({ point: at, originalEvent, lngLat }: MapMouseEvent): Spot {
    const { lng, lat } = lngLat.wrap();
    return {
      x: originalEvent.clientX,
      y: originalEvent.clientY,
      longitude: lng,
      latitude: lat,
      vehicles: this.#under(at, lngLat.lng),
    };
  }

  /** The vehicles of the nearest mark at pixels of the map. */
  #under({ x, y }: { x: number; y: number }, near: number): readonly Vehicle[] {
    const distance = (longitude: number, latitude: number) => {
      // The world is drawn several times side by side.
      const turn = 360 * Math.round((near - longitude) / 360);
      const drawn = this.map.project([longitude + turn, latitude]);
      return Math.hypot(drawn.x - x, drawn.y - y);
    };
    const chosen = this.#chosen.vehicle;
    const isChosen = chosen && distance(chosen.longitude, chosen.latitude) < radiusOf(1) + SLACK_PX;
    return isChosen ? [chosen] : this.#marks.under(distance, SLACK_PX);
  }

  #click(event: MapMouseEvent): void {
    const spot = this.#spot(event);
    const { vehicles } = spot;
    if (vehicles.length === 0) return;
    if (vehicles.length === 1) this.#clicked = vehicles[0]?.id ?? null;
    else if (this.#open(vehicles)) return;
    this.options.onClick(spot);
  }

  /** Zoom until the vehicles of a mark come apart; false if they never do. */
  #open(vehicles: readonly Vehicle[]): boolean {
    const places = vehicles.map(({ longitude, latitude }) => placeOf(longitude, latitude));
    if (cluster(places, MOST_ZOOM).length === 1 || this.map.getZoom() >= MOST_ZOOM - 0.5) return false;
    const bounds = boundsOf(vehicles.map(({ longitude, latitude }) => [longitude, latitude] as const));
    const camera = this.map.cameraForBounds(bounds, { padding: MARGIN_PX, maxZoom: MOST_ZOOM });
    if (!camera?.center) return false;
    this.#asked = true;
    const zoom = Math.max(camera.zoom ?? 0, Math.floor(this.map.getZoom()) + 1);
    this.map.easeTo({ center: camera.center, zoom: Math.min(zoom, MOST_ZOOM), duration: 300 });
    return true;
  }

  #hover(event: MapMouseEvent): void {
    if (this.map.isMoving()) return;
    const vehicles = this.#under(event.point, event.lngLat.lng);
    const canvas = this.map.getCanvas();
    canvas.style.cursor = vehicles.length > 0 ? "pointer" : "";
    canvas.title = vehicles.length === 1 ? (vehicles[0]?.name ?? "") : "";
  }
}

function boundsOf(
  places: readonly (readonly [longitude: number, latitude: number])[],
): [number, number, number, number] {
  let [west, south, east, north] = [180, 90, -180, -90];
  for (const [longitude, latitude] of places) {
    west = Math.min(west, longitude);
    east = Math.max(east, longitude);
    south = Math.min(south, latitude);
    north = Math.max(north, latitude);
  }
  return [west, south, east, north];
}

/** The map of vehicles: draws them over the base map, and says what of them is clicked. */

import type { Map as MapLibre, MapMouseEvent } from "maplibre-gl";
import type { Geofence } from "../api/types";
import type { Layer } from "./base";
import { type BaseMap, type BaseMapOptions, MOST_ZOOM, openBaseMap, type View } from "./baseMap";
import { cluster, degreesOf, placeOf, radiusOf, WORLD_PX } from "./clusters";
import { Marks } from "./marks";
import { Measure } from "./measure";
import { PlaceMarker } from "./placeMarker";
import { SelectedVehicle } from "./selectedVehicle";
import { boxOf } from "./vehicleMarks";
import { addVehicleLayers, type Vehicle } from "./vehicles";
import { collection } from "./world";
import { drawable, type Zone, zonesAt } from "./zoneShapes";
import { ZoneLayers, type ZonesShown } from "./zones";

/** What is under the pointer: pixels of the window, degrees, and the vehicles of the mark there. */
export interface Spot {
  x: number;
  y: number;
  longitude: number;
  latitude: number;
  vehicles: readonly Vehicle[];
  /** Those that hold the place, the smallest first. */
  zones: readonly Zone[];
}

export interface MapHandlers {
  /** A vehicle, several that stand too near to each other to be drawn apart, or the smallest of the zones. */
  onClick: (spot: Spot) => void;
  /** The line that the reader measures has another length, in meters. */
  onMeasure: (meters: number) => void;
  /** A right click or long press anywhere. */
  onMenu: (spot: Spot) => void;
  /** The reader moved the map; `away` if to another place, so that it cannot follow a vehicle any more. */
  onMove: (view: View, away: boolean) => void;
}

interface MapOptions extends MapHandlers, BaseMapOptions {
  /** Whether the view stays as it is although a vehicle is chosen from the start. */
  keepsView: boolean;
  /** Pixels at the left of the map that something covers. */
  coveredLeft: () => number;
}

/** Where a vehicle that is chosen elsewhere is shown at least; without tiles there is little to see so near. */
const CHOSEN_ZOOM = 14;
const CHOSEN_ZOOM_WITHOUT_TILES = 11;
const FIT_ZOOM = 11;
const MARGIN_PX = 60;
const MARGINS = { top: MARGIN_PX, right: MARGIN_PX, bottom: MARGIN_PX, left: MARGIN_PX };
/** Pixels by which a finger or mouse may miss a mark. */
const SLACK_PX = 6;

/** Make the map in an element. Throws `MapUnavailable` if the browser has no WebGL. */
export async function openMap(container: HTMLElement, options: MapOptions): Promise<VehicleMap> {
  return new VehicleMap(await openBaseMap(container, options), options);
}

export class VehicleMap {
  #vehicles: readonly Vehicle[] = [];
  readonly #marks = new Marks();
  readonly #chosen = new SelectedVehicle();
  readonly #zoneLayers: ZoneLayers;
  readonly #measure: Measure;
  readonly #place: PlaceMarker;
  #zones: readonly Zone[] = [];
  #zonesShown: ZonesShown = "none";
  /** The vehicle that was clicked on the map itself. */
  #clicked: number | null = null;
  #isPlaced: boolean;
  #asked = false;
  #keepsView: boolean;
  private readonly map: MapLibre;

  constructor(
    private readonly base: BaseMap,
    private readonly options: MapOptions,
  ) {
    const { map } = base;
    this.map = map;
    this.#isPlaced = options.view !== null;
    this.#keepsView = options.keepsView;
    this.#zoneLayers = new ZoneLayers(map);
    this.#measure = new Measure(map);
    this.#place = new PlaceMarker(map);
    base.onSharp(() => this.#draw());
    // One above the other.
    base.addDrawn(this.#zoneLayers);
    base.addDrawn(this.#measure);
    base.addDrawn({
      add: (colors, font) => {
        addVehicleLayers(map, colors, font);
        this.#draw();
      },
    });
    map.on("move", () => {
      if (!this.#marks.isDrawnAt(map.getZoom())) this.#draw();
    });
    map.on("moveend", (event) => this.#moved("originalEvent" in event && Boolean(event.originalEvent)));
    map.on("dragstart", () => options.onMove(this.base.view(), true));
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
      const least = this.base.withoutTiles ? CHOSEN_ZOOM_WITHOUT_TILES : CHOSEN_ZOOM;
      this.#center(vehicle, right, Math.max(this.map.getZoom(), least));
    }
    if (isOther) this.#draw();
    else this.#drawChosen();
  }

  /** Draw zones, or names and shapes of them no longer. */
  setZones(records: readonly Geofence[], shown: ZonesShown): void {
    this.#zones = drawable(records);
    this.#zonesShown = shown;
    this.#zoneLayers.set(this.#zones);
    this.#zoneLayers.show(shown);
  }

  /** Begin to measure at a place: clicks on the map go on from there. */
  measureFrom({ latitude, longitude }: Pick<Spot, "latitude" | "longitude">): void {
    this.options.onMeasure(this.#measure.set([[latitude, longitude]]));
  }

  /** Take back the last point of what is measured. */
  measureBack(): void {
    this.options.onMeasure(this.#measure.set(this.#measure.without()));
  }

  stopMeasuring(): void {
    this.#measure.set([]);
  }

  /** Bring all vehicles into view. */
  fit(): void {
    const places = this.#vehicles.map(({ longitude, latitude }) => [longitude, latitude] as const);
    if (places.length === 0) return;
    this.#isPlaced = true;
    const padding = { ...MARGINS, left: MARGINS.left + this.options.coveredLeft() };
    this.map.fitBounds(boundsOf(places), { padding, maxZoom: FIT_ZOOM, animate: false });
  }

  /** The same by wish of the reader. */
  showAll(): void {
    this.fit();
    this.options.onMove(this.base.view(), true);
  }

  /** Mark a place, null for none; with a zoom it comes into the middle. */
  showPlace(place: { latitude: number; longitude: number } | null, zoom: number | null): void {
    this.#place.set(place);
    if (!place || zoom === null) return;
    this.#isPlaced = true;
    this.map.jumpTo({ center: [place.longitude, place.latitude], zoom });
  }

  setLayer(layer: Layer | null): void {
    this.base.setLayer(layer);
  }

  zoomBy(steps: number): void {
    this.#asked = true;
    this.base.zoomBy(steps);
  }

  close(): void {
    this.base.close();
  }

  #setMarks(): void {
    const chosen = this.#chosen.vehicle?.id;
    this.#marks.set(chosen === undefined ? this.#vehicles : this.#vehicles.filter(({ id }) => id !== chosen));
  }

  #moved(byReader: boolean): void {
    this.#draw();
    if (!byReader && !this.#asked) return;
    this.#asked = false;
    this.options.onMove(this.base.view(), false);
  }

  #draw(): void {
    if (!this.base.isReady || this.base.light.active) return;
    const features = this.#marks.features(boxOf(this.map), this.map.getZoom(), this.options.language);
    this.base.setData("vehicles", collection(features));
    this.#drawChosen();
  }

  #drawChosen(): void {
    if (!this.base.isReady || this.base.light.active) return;
    this.base.setData("chosen", this.#chosen.mark());
    this.base.setData("tail", this.#chosen.tail());
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

  #spot({ point: at, originalEvent, lngLat }: MapMouseEvent): Spot {
    const { lng, lat } = lngLat.wrap();
    return {
      x: originalEvent.clientX,
      y: originalEvent.clientY,
      longitude: lng,
      latitude: lat,
      vehicles: this.#under(at, lngLat.lng),
      zones: zonesAt(this.#zones, [lat, lng]),
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
    const { vehicles, latitude, longitude } = spot;
    if (this.#measure.isActive) {
      this.options.onMeasure(this.#measure.set(this.#measure.with([latitude, longitude])));
      return;
    }
    if (vehicles.length === 0) {
      if (this.#zonesShown !== "none" && spot.zones.length > 0) this.options.onClick(spot);
      return;
    }
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

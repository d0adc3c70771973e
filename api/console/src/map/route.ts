/** The route of a vehicle on a map: the line by speed, its direction, numbered stops, and where the vehicle was. */

import type { MapMouseEvent } from "maplibre-gl";
import type { Geofence } from "../api/types";
import type { BaseMap } from "./baseMap";
import { type Box, placeOf, WORLD_PX } from "./clusters";
import type { Colors } from "./colors";
import { type RouteLines, routeLines, STEPS } from "./routeFeatures";
import { type RouteStop, stopMarks } from "./stopMarks";
import { MOST_FIXES } from "./thin";
import { boundsOfTrack, nearestTo, type Track, type Whereabouts } from "./track";
import type { TrackWorker } from "./trackWorker";
import { VehicleMarker } from "./vehicleMarker";
import { collection } from "./world";
import { drawable } from "./zoneShapes";
import { ZoneLayers, type ZonesShown } from "./zones";

const ARROWS_ZOOM = 13;
const LABELS_ZOOM = 10;
const FIT_ZOOM = 16;
const FIT_ZOOM_WITHOUT_TILES = 13;
const MARGIN_PX = 50;
/** Pixels by which a click may miss the line. */
const SLACK_PX = 12;
/** A vehicle that is followed stays so near to the middle, and another one in view; in parts of the map's size. */
const FOLLOWED = 0.3;
const IN_VIEW = 0.47;
const ARROW_PX = 24;

/** Draws a route on a map until `close`. */
export class RouteOnMap {
  readonly #zones: ZoneLayers;
  #track: Track | null = null;
  #width = 1;
  #worker: TrackWorker | null = null;
  #lines: RouteLines = { colored: collection([]), way: collection([]) };
  #stops: readonly RouteStop[] = [];
  /** The zoom that the marks of stops were made for. */
  #stopsZoom = Number.NaN;
  readonly #marker: VehicleMarker;
  readonly #redraw = () => {
    this.#thin();
    this.#drawStops();
  };
  readonly #click = (event: MapMouseEvent) => this.#clicked(event);

  /**
   * `onInstant` is called for a click on the line, in milliseconds since 1970; `title` names the marker, `several`
   * stops that are drawn as one.
   */
  constructor(
    private readonly base: BaseMap,
    title: string,
    private readonly several: (count: number) => string,
    private readonly onInstant: (at: number) => void,
  ) {
    this.#marker = new VehicleMarker(base.map, title);
    this.#zones = new ZoneLayers(base.map);
    base.addDrawn(this.#zones);
    base.addDrawn({
      add: (colors, font) => {
        addLayers(base, colors, font);
        this.#draw();
      },
    });
    base.onSharp(this.#redraw);
    base.map.on("moveend", this.#redraw);
    base.map.on("click", this.#click);
  }

  /** Draw a track; `worker` has it as well. A color is `width` knots wide. The view shows all of it. */
  setTrack(track: Track, worker: TrackWorker, width: number): void {
    this.#track = track;
    this.#width = width;
    this.#worker = worker;
    this.#lines = { colored: collection([]), way: collection([]) };
    this.fit();
    if (track.at.length > MOST_FIXES) this.#thin();
    else {
      this.#lines = routeLines(
        track,
        Array.from(track.at, (_, index) => index),
        width,
      );
    }
    this.#draw();
  }

  setZones(zones: readonly Geofence[], shown: ZonesShown): void {
    this.#zones.set(drawable(zones));
    this.#zones.show(shown);
  }

  setStops(stops: readonly RouteStop[]): void {
    this.#stops = stops;
    this.#stopsZoom = Number.NaN;
    this.#drawStops();
  }

  /** Show where the vehicle was; with `follow` the map goes along, with `show` as far as it must. */
  setVehicle(at: Whereabouts | null, follow: boolean, show: boolean): void {
    this.#marker.set(at);
    if (!at) return;
    const { longitude, latitude } = at;
    if (follow) this.#show(longitude, latitude, FOLLOWED);
    else if (show) this.#show(longitude, latitude, IN_VIEW);
  }

  /** Bring the whole route into view. */
  fit(): void {
    const bounds = this.#track && boundsOfTrack(this.#track);
    if (!bounds) return;
    this.base.map.fitBounds(bounds, {
      padding: MARGIN_PX,
      maxZoom: this.base.withoutTiles ? FIT_ZOOM_WITHOUT_TILES : FIT_ZOOM,
      animate: false,
    });
  }

  close(): void {
    this.#marker.set(null);
    this.base.map.off("moveend", this.#redraw);
    this.base.map.off("click", this.#click);
  }

  #show(longitude: number, latitude: number, most: number): void {
    const { map } = this.base;
    const { x, y } = map.project([longitude, latitude]);
    const { clientWidth, clientHeight } = map.getContainer();
    const [right, down] = [Math.abs(x / clientWidth - 0.5), Math.abs(y / clientHeight - 0.5)];
    if (right > most || down > most) map.jumpTo({ center: [longitude, latitude] });
  }

  #thin(): void {
    if (!this.#track || this.#track.at.length <= MOST_FIXES || this.base.light.active) return;
    const track = this.#track;
    this.#worker?.thin(this.base.map.getZoom(), this.#box(), (indexes) => {
      if (track !== this.#track) return;
      this.#lines = routeLines(track, indexes, this.#width);
      this.#draw();
    });
  }

  #draw(): void {
    if (!this.base.isReady) return;
    this.base.setData("route", this.#lines.colored);
    this.base.setData("route-way", this.#lines.way);
    this.#stopsZoom = Number.NaN;
    this.#drawStops();
  }

  /** Stops that would cover each other are one mark. */
  #drawStops(): void {
    const zoom = Math.floor(this.base.map.getZoom());
    if (!this.base.isReady || this.base.light.active || zoom === this.#stopsZoom) return;
    this.#stopsZoom = zoom;
    this.base.setData("route-stops", collection(stopMarks(this.#stops, zoom, this.several)));
  }

  #clicked({ lngLat }: MapMouseEvent): void {
    if (!this.#track) return;
    const found = nearestTo(this.#track, placeOf(lngLat.lng, lngLat.lat));
    const pixels = found ? found.distance * WORLD_PX * 2 ** this.base.map.getZoom() : Infinity;
    if (found && pixels <= SLACK_PX) this.onInstant(found.at);
  }

  #box(): Box {
    const bounds = this.base.map.getBounds();
    const { x: west, y: south } = placeOf(bounds.getWest(), bounds.getSouth());
    const { x: east, y: north } = placeOf(bounds.getEast(), bounds.getNorth());
    return { west, north, east, south };
  }
}

function addLayers({ map }: BaseMap, colors: Colors, font: string[]): void {
  const empty = collection([]);
  for (const source of ["route", "route-way", "route-stops"])
    map.addSource(source, { type: "geojson", data: empty });
  if (!map.hasImage("route-arrow")) {
    const arrow = drawArrow(colors);
    if (arrow) map.addImage("route-arrow", arrow, { pixelRatio: 2 });
  }
  const round = { "line-cap": "round", "line-join": "round" } as const;
  map.addLayer({
    id: "vehicle-route-edge",
    type: "line",
    source: "route-way",
    layout: round,
    paint: { "line-color": colors.card, "line-width": 8, "line-opacity": 0.9 },
  });
  const steps = Array.from({ length: STEPS }, (_, step) => [step, colors[`speed-${step}` as keyof Colors]]);
  const color = ["match", ["get", "step"], ...steps.flat(), colors.offline] as never;
  map.addLayer({
    id: "vehicle-route",
    type: "line",
    source: "route",
    filter: ["!", ["get", "gap"]],
    layout: round,
    paint: { "line-color": color, "line-width": 4.5 },
  });
  map.addLayer({
    id: "vehicle-route-gaps",
    type: "line",
    source: "route",
    filter: ["get", "gap"],
    paint: { "line-color": color, "line-width": 3, "line-dasharray": [1.5, 1.5] },
  });
  map.addLayer({
    id: "route-arrows",
    type: "symbol",
    source: "route-way",
    minzoom: ARROWS_ZOOM,
    layout: {
      "symbol-placement": "line",
      "symbol-spacing": 90,
      "icon-image": "route-arrow",
      "icon-allow-overlap": true,
      "icon-ignore-placement": true,
    },
  });
  map.addLayer({
    id: "vehicle-route-stops",
    type: "circle",
    source: "route-stops",
    paint: {
      "circle-radius": ["step", ["length", ["get", "number"]], 11, 3, 14],
      "circle-color": colors.ink,
      "circle-stroke-color": colors.card,
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "route-stop-numbers",
    type: "symbol",
    source: "route-stops",
    layout: {
      "text-field": ["get", "number"],
      "text-font": font,
      "text-size": 13,
      "text-allow-overlap": true,
      "text-ignore-placement": true,
    },
    paint: { "text-color": colors.card },
  });
  map.addLayer({
    id: "route-stop-labels",
    type: "symbol",
    source: "route-stops",
    minzoom: LABELS_ZOOM,
    layout: {
      "text-field": ["get", "label"],
      "text-font": font,
      "text-size": 13,
      "text-anchor": "top",
      "text-offset": [0, 1.1],
    },
    paint: { "text-color": colors.ink, "text-halo-color": colors.card, "text-halo-width": 1.6 },
  });
}

/** An arrow to the east: MapLibre turns it along the line. */
function drawArrow(colors: Colors): ImageData | null {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [ARROW_PX, ARROW_PX];
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.beginPath();
  context.moveTo(7, 4);
  context.lineTo(18, ARROW_PX / 2);
  context.lineTo(7, ARROW_PX - 4);
  context.lineJoin = "round";
  context.lineCap = "round";
  context.strokeStyle = colors.card;
  context.lineWidth = 8;
  context.stroke();
  context.strokeStyle = colors.ink;
  context.lineWidth = 4;
  context.stroke();
  return context.getImageData(0, 0, ARROW_PX, ARROW_PX);
}

/** What a map draws of a report: the places of its rows, the ways between two of them, and the one that is chosen. */

import type { MapMouseEvent } from "maplibre-gl";
import type { BaseMap } from "./baseMap";
import type { Colors } from "./colors";
import { collection, point } from "./world";

export interface ReportSpot {
  longitude: number;
  latitude: number;
}

/** A row with its place, or with the two that it leads between. */
export interface ReportMark {
  index: number;
  from: ReportSpot;
  to?: ReportSpot;
}

const MARGIN_PX = 40;
const NEAREST_ZOOM = 14;
/** Pixels by which a click may miss a place. */
const SLACK_PX = 8;
const LAYERS = ["report-ends", "report-places"];

/** Draws a report on a map until `close`. */
export class ReportOnMap {
  #marks: readonly ReportMark[] = [];
  #ways: readonly (readonly (readonly number[])[])[] = [];
  #chosen: number | null = null;
  readonly #click = (event: MapMouseEvent) => this.#clicked(event);

  /** `onChoose` is told which row a pressed place is of; `onPlace` where else the map was pressed. */
  constructor(
    private readonly base: BaseMap,
    private readonly onChoose: (index: number) => void,
    private readonly onPlace: (spot: ReportSpot) => void,
  ) {
    base.addDrawn({
      add: (colors) => {
        this.#addLayers(colors);
        this.#draw();
      },
    });
    base.map.on("click", this.#click);
  }

  /** Show rows, and ways of vehicles; the view shows all of them. */
  set(marks: readonly ReportMark[], ways: readonly (readonly (readonly number[])[])[]): void {
    this.#marks = marks;
    this.#ways = ways;
    this.#draw();
    this.#fit();
  }

  /** Show which row is chosen, and bring it into view. */
  choose(index: number | null): void {
    this.#chosen = index;
    this.#draw();
    const mark = this.#marks.find((each) => each.index === index);
    if (!mark) return;
    const { map } = this.base;
    const { longitude, latitude } = mark.from;
    if (!map.getBounds().contains([longitude, latitude])) map.jumpTo({ center: [longitude, latitude] });
  }

  close(): void {
    this.base.map.off("click", this.#click);
  }

  #fit(): void {
    const spots = this.#marks.flatMap(({ from, to }) => (to ? [from, to] : [from]));
    const [longitudes, latitudes] = [
      [...spots.map((spot) => spot.longitude), ...this.#ways.flat().map(([longitude = 0]) => longitude)],
      [...spots.map((spot) => spot.latitude), ...this.#ways.flat().map(([, latitude = 0]) => latitude)],
    ];
    if (longitudes.length === 0) return;
    const least = (values: readonly number[]) => values.reduce((one, other) => Math.min(one, other));
    const most = (values: readonly number[]) => values.reduce((one, other) => Math.max(one, other));
    this.base.map.fitBounds(
      [
        [least(longitudes), Math.max(-85, least(latitudes))],
        [most(longitudes), Math.min(85, most(latitudes))],
      ],
      { padding: MARGIN_PX, maxZoom: NEAREST_ZOOM, animate: false },
    );
  }

  #draw(): void {
    if (!this.base.isReady) return;
    const line = (coordinates: readonly (readonly number[])[], index: number): GeoJSON.Feature => ({
      type: "Feature",
      properties: { index, chosen: index === this.#chosen },
      geometry: { type: "LineString", coordinates: coordinates.map((each) => [...each]) },
    });
    const place = ({ longitude, latitude }: ReportSpot, index: number) =>
      point(longitude, latitude, { index, chosen: index === this.#chosen });
    const pair = ({ longitude, latitude }: ReportSpot) => [longitude, latitude];
    this.base.setData(
      "report-lines",
      collection([
        ...this.#ways.filter((way) => way.length > 1).map((way) => line(way, -1)),
        ...this.#marks.flatMap(({ index, from, to }) => (to ? [line([pair(from), pair(to)], index)] : [])),
      ]),
    );
    this.base.setData("report-places", collection(this.#marks.map(({ index, from }) => place(from, index))));
    this.base.setData(
      "report-ends",
      collection(this.#marks.flatMap(({ index, to }) => (to ? [place(to, index)] : []))),
    );
  }

  #clicked({ point: { x, y }, lngLat }: MapMouseEvent): void {
    const found = this.base.map.queryRenderedFeatures(
      [
        [x - SLACK_PX, y - SLACK_PX],
        [x + SLACK_PX, y + SLACK_PX],
      ],
      { layers: LAYERS },
    )[0];
    const index = found?.properties.index as number | undefined;
    if (index !== undefined) this.onChoose(index);
    else this.onPlace({ longitude: lngLat.lng, latitude: lngLat.lat });
  }

  #addLayers(colors: Colors): void {
    const { map } = this.base;
    for (const source of ["report-lines", "report-places", "report-ends"])
      map.addSource(source, { type: "geojson", data: collection([]) });
    const isChosen = ["get", "chosen"];
    map.addLayer({
      id: "report-lines",
      type: "line",
      source: "report-lines",
      layout: { "line-cap": "round", "line-join": "round" },
      paint: {
        "line-color": ["case", isChosen, colors.bad, colors.accent] as never,
        "line-width": ["case", isChosen, 4, 2] as never,
        "line-opacity": 0.7,
      },
    });
    const circles = (id: string, fill: string, stroke: string) =>
      map.addLayer({
        id,
        type: "circle",
        source: id,
        paint: {
          "circle-radius": ["case", isChosen, 9, 5] as never,
          "circle-color": ["case", isChosen, colors.bad, fill] as never,
          "circle-stroke-color": stroke,
          "circle-stroke-width": 2,
        },
      });
    circles("report-places", colors.accent, colors.card);
    circles("report-ends", colors.card, colors.accent);
  }
}

/** What a map draws of an event: the way around it, the zone that it names, and where it happened. */

import type { Map as MapLibre } from "maplibre-gl";
import type { BaseMap } from "./baseMap";
import type { Colors } from "./colors";
import { collection, point } from "./world";
import type { Zone } from "./zoneShapes";
import { ZoneLayers } from "./zones";

export interface EventPlace {
  longitude: number;
  latitude: number;
}

/** Nothing nearer is shown, however short the way. */
export const NEAREST_ZOOM = 15;
const MARGIN_PX = 50;

/** Draw an event, its way in the order of time, and bring all of it into view with the event in the middle. */
export function drawEvent(
  opened: BaseMap,
  way: readonly EventPlace[],
  at: EventPlace,
  zones: readonly Zone[],
): void {
  const { map } = opened;
  showWay(map, way, at);
  const layers = new ZoneLayers(map);
  layers.set(zones);
  opened.addDrawn(layers);
  opened.addDrawn({ add: (colors) => addLayers(map, way, at, colors) });
}

function showWay(map: MapLibre, way: readonly EventPlace[], at: EventPlace): void {
  const farthest = (pick: (place: EventPlace) => number) =>
    Math.max(0, ...way.map((place) => Math.abs(pick(place) - pick(at))));
  const width = farthest((place) => place.longitude);
  const height = farthest((place) => place.latitude);
  if (width === 0 && height === 0) return;
  map.fitBounds(
    [
      [at.longitude - width, Math.max(-85, at.latitude - height)],
      [at.longitude + width, Math.min(85, at.latitude + height)],
    ],
    { padding: MARGIN_PX, maxZoom: NEAREST_ZOOM, animate: false },
  );
}

function addLayers(map: MapLibre, way: readonly EventPlace[], at: EventPlace, colors: Colors): void {
  const coordinates = way.map(({ longitude, latitude }) => [longitude, latitude]);
  const line: GeoJSON.Feature[] =
    coordinates.length > 1
      ? [{ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates } }]
      : [];
  const points = way.map(({ longitude, latitude }) => point(longitude, latitude, {}));
  map.addSource("event-way", { type: "geojson", data: collection(line) });
  map.addSource("event-points", { type: "geojson", data: collection(points) });
  map.addSource("event", { type: "geojson", data: point(at.longitude, at.latitude, {}) });
  map.addLayer({
    id: "event-way",
    type: "line",
    source: "event-way",
    layout: { "line-cap": "round", "line-join": "round" },
    paint: { "line-color": colors.accent, "line-width": 4, "line-opacity": 0.7 },
  });
  map.addLayer({
    id: "event-points",
    type: "circle",
    source: "event-points",
    paint: {
      "circle-radius": 3.5,
      "circle-color": colors.card,
      "circle-stroke-color": colors.accent,
      "circle-stroke-width": 2,
    },
  });
  map.addLayer({
    id: "event",
    type: "circle",
    source: "event",
    paint: {
      "circle-radius": 9,
      "circle-color": colors.bad,
      "circle-stroke-color": colors.card,
      "circle-stroke-width": 3,
    },
  });
}

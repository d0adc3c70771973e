/** How vehicles are drawn: their sources, layers and icons. */

import type { LayerSpecification, Map as MapLibre } from "maplibre-gl";
import { t } from "../i18n/translate";
import type { Colors } from "./colors";
import { collection } from "./world";

/** As the list says it: a shape and a color for each. */
export type VehicleStatus = "moving" | "online" | "offline" | "unknown";

/** How severe something is that somebody has to look at. */
export type Alarm = "CRITICAL" | "WARNING";

/** A vehicle to draw; degrees, the course clockwise from north. */
export interface Vehicle {
  id: number;
  name: string;
  status: VehicleStatus;
  longitude: number;
  latitude: number;
  course: number;
  /** The severity of what waits for review. */
  alarm?: Alarm | undefined;
  /** Drawn fainter, since it has not reported for long. */
  old: boolean;
}

/** Sources that are set anew with the vehicles. */
export const SOURCES = ["vehicles", "tail", "chosen"] as const;
const ALARMS = ["CRITICAL", "WARNING"] as const satisfies Alarm[];
const STATUSES: readonly string[] = ["moving", "online", "offline", "unknown"] satisfies VehicleStatus[];
const ICON_PX = 24;
const ICON_SCALE = 2;

/** The properties of a vehicle's feature; its name is drawn beside it where there is room, if it is `named`. */
export function propertiesOf(
  { id, name, status, course, old, alarm }: Vehicle,
  named: boolean,
): GeoJSON.GeoJsonProperties {
  const icon = { icon: status, course: status === "moving" ? course : 0, opacity: old ? 0.65 : 1 };
  const drawn = { id, ...icon, ...alarmOf([alarm]) };
  return named ? { ...drawn, name } : drawn;
}

/** The properties by which a mark shows the most severe of what waits for review. */
export function alarmOf(alarms: readonly (Alarm | undefined)[]): GeoJSON.GeoJsonProperties {
  const found = ALARMS.find((each) => alarms.includes(each));
  return found ? { alarm: found, alarmWord: t(`review.severity.${found}`) } : {};
}

/** Add sources and layers above everything else; `font` is what the style has letters of. */
export function addVehicleLayers(map: MapLibre, colors: Colors, font: string[]): void {
  for (const source of SOURCES)
    map.addSource(source, { type: "geojson", data: collection([]), tolerance: 0 });
  for (const layer of layersOf(colors, font)) map.addLayer(layer);
}

/** Whether it is the name of an icon of ours. */
export function isIcon(name: string): boolean {
  return name === "city" || STATUSES.includes(name);
}

/** Draw an icon of ours; an empty one for other names. */
export function drawIcon(name: string, colors: Colors): ImageData | null {
  const canvas = document.createElement("canvas");
  const small = name === "city";
  const side = (small ? 6 : ICON_PX) * ICON_SCALE;
  [canvas.width, canvas.height] = [side, side];
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.scale(ICON_SCALE, ICON_SCALE);
  if (small) drawCity(context, colors);
  else if (STATUSES.includes(name)) drawStatus(context, name as VehicleStatus, colors);
  else if (name === "CRITICAL" || name === "WARNING") drawAlarm(context, name, colors);
  return context.getImageData(0, 0, side, side);
}

/** Pixels of an icon for one of the map. */
export const iconScale = ICON_SCALE;

function drawCity(context: CanvasRenderingContext2D, colors: Colors): void {
  context.fillStyle = colors["map-name"];
  context.beginPath();
  context.arc(3, 3, 1.8, 0, 2 * Math.PI);
  context.fill();
}

/** Online a dot, moving an arrow to the north, offline a square, unknown a ring; each on a light edge. */
function drawStatus(context: CanvasRenderingContext2D, status: VehicleStatus, colors: Colors): void {
  const middle = ICON_PX / 2;
  const path = new Path2D();
  if (status === "moving") {
    path.moveTo(middle, 2.5);
    path.lineTo(middle + 7.5, 20);
    path.lineTo(middle, 16);
    path.lineTo(middle - 7.5, 20);
    path.closePath();
  } else if (status === "offline") path.rect(middle - 6, middle - 6, 12, 12);
  else path.arc(middle, middle, status === "unknown" ? 5.5 : 7, 0, 2 * Math.PI);
  context.lineJoin = "round";
  context.strokeStyle = colors.card;
  context.lineWidth = status === "unknown" ? 8 : 4;
  context.stroke(path);
  if (status === "unknown") {
    context.strokeStyle = colors.unknown;
    context.lineWidth = 4;
    context.stroke(path);
    return;
  }
  context.fillStyle = colors[status];
  context.fill(path);
}

/** Critical an octagon, a warning a triangle, with an exclamation mark. */
function drawAlarm(context: CanvasRenderingContext2D, alarm: Alarm, colors: Colors): void {
  const critical = alarm === "CRITICAL";
  const path = new Path2D(critical ? "M8.5 3h7L21 8.5v7L15.5 21h-7L3 15.5v-7z" : "M12 3L22 21H2z");
  context.lineJoin = "round";
  context.strokeStyle = colors.card;
  context.lineWidth = 3;
  context.stroke(path);
  context.fillStyle = critical ? colors.bad : colors.unknown;
  context.fill(path);
  context.fillStyle = colors.card;
  context.fillRect(11, critical ? 7 : 9.5, 2, critical ? 6.5 : 5);
  context.fillRect(11, critical ? 15 : 16, 2, 2);
}

function layersOf(colors: Colors, font: string[]): LayerSpecification[] {
  const label = { "text-color": colors.ink, "text-halo-color": colors.card, "text-halo-width": 1.6 };
  const icon = {
    "icon-image": ["get", "icon"],
    "icon-rotate": ["get", "course"],
    "icon-rotation-alignment": "map",
    // Names keep off it.
    "icon-allow-overlap": true,
    "icon-padding": 0,
  } as const;
  const name = { "text-field": ["get", "name"], "text-font": font, "text-size": 13 } as const;
  const alarms = (source: string) => ({
    id: `vehicle-alarms-${source}`,
    type: "symbol",
    source,
    filter: ["has", "alarm"],
    layout: {
      "icon-image": ["get", "alarm"],
      "icon-size": 0.75,
      "icon-offset": [15, -15],
      "icon-allow-overlap": true,
      "icon-ignore-placement": true,
      "text-field": ["get", "alarmWord"],
      "text-font": font,
      "text-size": 13,
      "text-anchor": "left",
      "text-offset": [1.7, -0.95],
      "text-optional": true,
    },
    paint: label,
  });
  return [
    {
      id: "vehicle-tail",
      type: "line",
      source: "tail",
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": colors.accent, "line-width": 4, "line-opacity": 0.6 },
    },
    // Layers above have their place first: a name stands where neither a mark nor another name is.
    {
      id: "vehicle-names",
      type: "symbol",
      source: "vehicles",
      filter: ["has", "name"],
      layout: {
        ...name,
        "text-variable-anchor": ["top", "left", "right", "bottom"],
        // An arrow takes more room the more it is turned.
        "text-radial-offset": ["case", ["==", ["get", "icon"], "moving"], 1.6, 1.1],
        "text-justify": "auto",
      },
      paint: label,
    },
    {
      id: "vehicle-clusters",
      type: "circle",
      source: "vehicles",
      filter: ["has", "label"],
      paint: {
        "circle-radius": ["-", ["get", "radius"], 1],
        "circle-color": colors.card,
        "circle-stroke-color": colors.accent,
        "circle-stroke-width": 2,
      },
    },
    {
      id: "vehicle-counts",
      type: "symbol",
      source: "vehicles",
      filter: ["has", "label"],
      layout: {
        "text-field": ["get", "label"],
        "text-font": font,
        "text-size": 13,
        "text-allow-overlap": true,
        "text-padding": 8,
      },
      paint: { "text-color": colors.ink },
    },
    {
      id: "vehicle-icons",
      type: "symbol",
      source: "vehicles",
      filter: ["has", "icon"],
      layout: icon,
      paint: { "icon-opacity": ["get", "opacity"] },
    },
    alarms("vehicles"),
    {
      id: "vehicle-chosen-edge",
      type: "circle",
      source: "chosen",
      paint: {
        "circle-radius": 17,
        "circle-color": colors.card,
        "circle-opacity": 0.75,
        "circle-stroke-color": colors.accent,
        "circle-stroke-width": 3,
      },
    },
    {
      id: "vehicle-chosen",
      type: "symbol",
      source: "chosen",
      layout: {
        ...icon,
        ...name,
        "text-anchor": "top",
        "text-offset": [0, 1.7],
        "text-size": 13,
        "text-allow-overlap": true,
      },
      paint: label,
    },
    alarms("chosen"),
  ] as LayerSpecification[];
}

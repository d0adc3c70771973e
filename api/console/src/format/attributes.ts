/** Values of a position by their names (docs/positions.md), in the reader's units. */

import type { Style } from "./style";
import { duration } from "./times";
import { distance, number, speed, volume } from "./units";

type Kind =
  | "distance"
  | "duration"
  | "percent"
  | "voltage"
  | "speed"
  | "kilometers"
  | "volume"
  | "degrees"
  | "rpm";

/** In an hour, of a knot. */
const KILOMETERS = 1.852;

const KINDS: Record<string, Kind> = {
  odometer: "distance",
  totalDistance: "distance",
  tripOdometer: "distance",
  distance: "distance",
  hours: "duration",
  batteryLevel: "percent",
  fuelLevel: "percent",
  throttle: "percent",
  engineLoad: "percent",
  battery: "voltage",
  power: "voltage",
  obdSpeed: "kilometers",
  speedLimit: "speed",
  fuel: "volume",
  fuelUsed: "volume",
  coolantTemp: "degrees",
  deviceTemp: "degrees",
  rpm: "rpm",
};

/** `fuelPercent` as `Fuel percent`; a name that is not of plain words is left as it is. */
export function spaced(name: string): string {
  if (!/^[a-z]{3,}([A-Z][a-z]+)*$/.test(name)) return name;
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value as people read it; `yes` and `no` are the words of the language. */
export function attributeText(name: string, value: unknown, style: Style, yes: string, no: string): string {
  if (typeof value === "boolean") return value ? yes : no;
  if (typeof value !== "number") return typeof value === "string" ? value : JSON.stringify(value);
  switch (KINDS[name] ?? kindByForm(name)) {
    case "distance":
      return distance(value, style);
    case "duration":
      return duration(value, style);
    case "percent":
      return `${number(value, 0, style)} %`;
    case "voltage":
      return `${number(value, 1, style)} V`;
    case "speed":
      return speed(value, style);
    case "kilometers":
      return speed(value / KILOMETERS, style);
    case "volume":
      return volume(value, style);
    case "degrees":
      return `${number(value, 1, style)} °C`;
    case "rpm":
      return `${number(value, 0, style)} /min`;
    default:
      return number(value, Number.isInteger(value) ? 0 : 2, style);
  }
}

function kindByForm(name: string): Kind | undefined {
  if (/^temp\d+$/.test(name)) return "degrees";
  return name.endsWith("Percent") ? "percent" : undefined;
}

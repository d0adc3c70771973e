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

/** A value as people read it; `yes` and `no` are the words of the language. */
export function attributeText(name: string, value: unknown, style: Style, yes: string, no: string): string {
  if (typeof value === "boolean") return value ? yes : no;
  if (typeof value !== "number") return typeof value === "string" ? value : JSON.stringify(value);
  switch (KINDS[name] ?? (/^temp\d+$/.test(name) ? "degrees" : undefined)) {
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

/** Values of reports as text, in the reader's units and zone. */

import type { Style } from "../../format/style";
import { date, dateTime, dayTime, duration } from "../../format/times";
import { altitude, consumption, distance, number, speed, volume } from "../../format/units";
import { t } from "../../i18n/translate";

/** What a value is: metres, knots, litres, milliseconds and so on, as the API has them. */
export type Form =
  | "text"
  | "time"
  | "day"
  | "duration"
  | "distance"
  | "metres"
  | "speed"
  | "volume"
  | "consumption"
  | "count"
  | "figure"
  | "switch";

/** A value of a column; instants are milliseconds since 1970, null is unknown. */
export type Value = string | number | boolean | null;

const NUMERIC: ReadonlySet<Form> = new Set([
  "duration",
  "distance",
  "metres",
  "speed",
  "volume",
  "consumption",
  "count",
  "figure",
]);

/** Whether values stand at the right. */
export function isNumeric(form: Form): boolean {
  return NUMERIC.has(form);
}

/** A value as text; unknown ones are empty. `isShort`: times without the year. */
export function cellText(form: Form, value: Value | undefined, look: Style, isShort = false): string {
  if (value === null || value === undefined) return "";
  if (form === "switch") return t(value ? "common.yes" : "common.no");
  if (typeof value !== "number") return String(value);
  switch (form) {
    case "time":
      return isShort ? dayTime(value, look) : dateTime(value, look);
    case "day":
      return date(value, look);
    case "duration":
      return duration(value, look);
    case "distance":
      return distance(value, look);
    case "metres":
      return altitude(value, look);
    case "speed":
      return speed(value, look);
    case "volume":
      return volume(value, look);
    case "consumption":
      return consumption(value, look);
    case "count":
      return number(value, 0, look);
    default:
      return number(value, 1, look);
  }
}

/** How much more or less than before, in percent; null where nothing was before. */
export function change(now: number | null, before: number | null): number | null {
  return now === null || before === null || before === 0 ? null : (100 * (now - before)) / Math.abs(before);
}

/** A change as `+12 %`. */
export function changeText(percent: number | null, look: Style): string {
  if (percent === null) return "–";
  const rounded = Math.round(percent);
  return `${rounded > 0 ? "+" : ""}${number(rounded || 0, 0, look)} %`;
}

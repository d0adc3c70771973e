/** Places as text: decimal degrees, degrees and minutes, or degrees, minutes and seconds. */

import type { Style } from "./style";
import { number } from "./units";

/** `52.51630, 13.37770`, `52° 30.978' N, 13° 22.662' E`, or `52° 30' 58.7" N, 13° 22' 39.7" E`. */
export function coordinates(latitude: number, longitude: number, style: Style): string {
  if (style.coordinateFormat === "dd") return `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  return `${angle(latitude, "N", "S", style)}, ${angle(longitude, "E", "W", style)}`;
}

function angle(degrees: number, positive: string, negative: string, style: Style): string {
  const side = degrees < 0 ? negative : positive;
  const size = Math.abs(degrees);
  if (style.coordinateFormat === "ddm") {
    const thousandths = Math.round(size * 60_000);
    return `${Math.floor(thousandths / 60_000)}° ${number((thousandths % 60_000) / 1000, 3, style)}' ${side}`;
  }
  const tenths = Math.round(size * 36_000);
  const minutes = Math.floor((tenths % 36_000) / 600);
  return `${Math.floor(tenths / 36_000)}° ${minutes}' ${number((tenths % 600) / 10, 1, style)}" ${side}`;
}

const POINTS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"] as const;

/** The point of the compass of a course in degrees, as a key of translation: `N`, `NE`, … */
export function compassPoint(course: number): (typeof POINTS)[number] {
  return POINTS[((Math.round(course / 45) % 8) + 8) % 8] ?? "N";
}

/** Wall times as the browser's own pickers write them: `2026-05-01T14:32` (https://html.spec.whatwg.org/#dates-and-times). */

import { instantOf, type Wall, wallOf } from "./zones";

const LOCAL = /^(\d{4,6})-(\d{2})-(\d{2})T(\d{2}):(\d{2})/;

/** The minute of an instant, as the value of `datetime-local`. */
export function localText(at: number, zone: string): string {
  const { year, month, day, hour, minute } = wallOf(at, zone);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`;
}

/** The instant of such a value, or null. */
export function readLocal(text: string, zone: string): number | null {
  const found = LOCAL.exec(text);
  if (!found) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = found.slice(1).map(Number);
  const wall: Wall = { year, month, day, hour, minute, second: 0 };
  return instantOf(wall, zone);
}

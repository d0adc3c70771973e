/** Dates and times of a zone, ages and lengths of time. */

import type { Style } from "./style";

type Look = Pick<Style, "language" | "zone">;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(instant: number, style: Look, name: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${name} ${style.language} ${style.zone}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(style.language, { timeZone: style.zone, ...options });
    formats.set(key, found);
  }
  return found.format(instant);
}

const MINUTE: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const SECOND: Intl.DateTimeFormatOptions = { ...MINUTE, second: "2-digit" };

/** `14:32`. */
export function clockTime(instant: number, style: Look): string {
  return format(instant, style, "minute", MINUTE);
}

/** `14:32:07`. */
export function clockSeconds(instant: number, style: Look): string {
  return format(instant, style, "second", SECOND);
}

/** `Sun, Nov 22, 2026`, as the language writes it. */
export function date(instant: number, style: Look): string {
  return format(instant, style, "date", {
    weekday: "short",
    year: "numeric",
    month: "short",
    day: "numeric",
  });
}

/** `Nov 22`, as the language writes it. */
export function dayMonth(instant: number, style: Look): string {
  return format(instant, style, "dayMonth", { month: "short", day: "numeric" });
}

/** Date and time to the second. */
export function dateTime(instant: number, style: Look): string {
  return format(instant, style, "both", { year: "numeric", month: "short", day: "numeric", ...SECOND });
}

/** The same in UTC, for hovering. */
export function utc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A short form: the time of today, else the day with the time. */
export function shortTime(instant: number, now: number, style: Look): string {
  const day = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  if (format(instant, style, "day", day) === format(now, style, "day", day)) return clockTime(instant, style);
  return dayTime(instant, style);
}

/** The day with the time, also of today: `Nov 22, 14:32`. */
export function dayTime(instant: number, style: Look): string {
  return format(instant, style, "short", { month: "short", day: "numeric", ...MINUTE });
}

/** Two times, with a day each if they are not of one day: `Nov 21, 14:32 – Nov 22, 14:32`. */
export function timeRange(from: number, to: number, now: number, style: Look): string {
  if (date(from, style) !== date(to, style)) return `${dayTime(from, style)} – ${dayTime(to, style)}`;
  return `${shortTime(from, now, style)} – ${clockTime(to, style)}`;
}

/** A length in milliseconds by its two largest units: `2 h 10 min`, `3 d 4 h`, `45 s`. */
export function duration(milliseconds: number, style: Pick<Style, "language">): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return join(style, [days, "day"], [hours % 24, "hour"]);
  if (hours > 0) return join(style, [hours, "hour"], [minutes % 60, "minute"]);
  if (minutes > 0) return join(style, [minutes, "minute"]);
  return join(style, [seconds, "second"]);
}

const SIGNS = { day: "d", hour: "h", minute: "min", second: "s" } as const;

function join(style: Pick<Style, "language">, ...parts: [number, keyof typeof SIGNS][]): string {
  return parts
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, unit]) => `${count.toLocaleString(style.language)} ${SIGNS[unit]}`)
    .join(" ");
}

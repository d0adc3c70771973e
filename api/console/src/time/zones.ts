/** Wall time and instants of a time zone, by `Intl.DateTimeFormat` alone. Instants are milliseconds since 1970. */

export interface Wall {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const DAY = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}

/** Whether this browser knows the zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** The zone of this browser. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** What clocks on the wall show at an instant. */
export function wallOf(instant: number, zone: string): Wall {
  const wall: Wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatOf(zone).formatToParts(instant)) {
    if (type in wall) wall[type as keyof Wall] = Number(value);
  }
  return wall;
}

function asUtc(wall: Wall): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

/** Milliseconds that the zone is ahead of UTC. */
export function offsetAt(instant: number, zone: string): number {
  return asUtc(wallOf(instant, zone)) - Math.floor(instant / 1000) * 1000;
}

/**
 * The instant at which clocks show `wall`. Where they show it twice, the earlier one, or the later if asked for.
 * A time that is skipped counts as that long after the change: 02:30 becomes 03:30.
 */
export function instantOf(wall: Wall, zone: string, which: "earlier" | "later" = "earlier"): number {
  const local = asUtc(wall);
  const before = offsetAt(local - DAY, zone);
  const after = offsetAt(local + DAY, zone);
  const found = [local - before, local - after].filter(
    (instant) => instant + offsetAt(instant, zone) === local,
  );
  if (found.length === 0) return local - before;
  return which === "earlier" ? Math.min(...found) : Math.max(...found);
}

/** The first instant of the day that holds `instant`, `days` later. */
export function startOfDay(instant: number, zone: string, days = 0): number {
  const { year, month, day } = wallOf(instant, zone);
  return instantOf({ year, month, day: day + days, hour: 0, minute: 0, second: 0 }, zone);
}

/** The first instant of the week (Monday) that holds `instant`, `weeks` later. */
export function startOfWeek(instant: number, zone: string, weeks = 0): number {
  const { year, month, day } = wallOf(instant, zone);
  const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
  return startOfDay(instant, zone, weeks * 7 - weekday);
}

/** The first instant of the month that holds `instant`, `months` later. */
export function startOfMonth(instant: number, zone: string, months = 0): number {
  const { year, month } = wallOf(instant, zone);
  return instantOf({ year, month: month + months, day: 1, hour: 0, minute: 0, second: 0 }, zone);
}

/** The same time of the day, `days` later. */
export function addDays(instant: number, zone: string, days: number): number {
  const wall = wallOf(instant, zone);
  const rest = ((instant % 1000) + 1000) % 1000;
  return instantOf({ ...wall, day: wall.day + days }, zone) + rest;
}

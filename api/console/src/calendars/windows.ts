/** The windows of a calendar, as the server works them out, and what the days of a zone show of them. */

import { post } from "../api/call";
import type { Calendar, CalendarWindow } from "../api/types";
import { offsetAt, startOfDay, wallOf } from "../time/zones";

/** Milliseconds since 1970; the end is excluded. */
export interface Window {
  from: number;
  to: number;
}

type Drawn = Pick<Calendar, "data" | "attributes">;

/** Most windows of a calendar between two instants, at most 366 days apart. Throws a `Problem`. */
export async function readWindows(
  { data, attributes }: Drawn,
  { from, to }: Window,
  signal?: AbortSignal,
): Promise<readonly Window[]> {
  const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const zone = attributes.timezone;
  const windows = await post<readonly CalendarWindow[]>(
    "/calendars/windows",
    { name: "-", data, attributes: zone ? { timezone: zone } : {} },
    query,
    signal,
  );
  return windows.map(({ startTime, endTime }) => ({ from: Date.parse(startTime), to: Date.parse(endTime) }));
}

/** A stretch of a day as shares of it, 0 to 1. */
export interface Bar {
  from: number;
  to: number;
  /** Its times of day: `22:00–24:00`. */
  text: string;
}

export interface DayBars {
  /** Its first instant. */
  at: number;
  /** Hours, 24 but for days on which clocks are changed. */
  hours: number;
  bars: readonly Bar[];
}

/** The open stretches of days of a zone, from the one that holds an instant. */
export function dayBars(
  windows: readonly Window[],
  first: number,
  days: number,
  zone: string,
): readonly DayBars[] {
  return Array.from({ length: days }, (_, day) => {
    const [begin, end] = [startOfDay(first, zone, day), startOfDay(first, zone, day + 1)];
    const share = (at: number) => (at - begin) / (end - begin);
    const bars = windows.flatMap(({ from, to }) => {
      if (from >= end || to <= begin) return [];
      const [opens, closes] = [Math.max(from, begin), Math.min(to, end)];
      const text = `${clock(opens, zone)}–${closes === end ? "24:00" : clock(closes, zone)}`;
      return [{ from: share(opens), to: share(closes), text }];
    });
    return { at: begin, hours: (end - begin) / 3_600_000, bars };
  });
}

function clock(at: number, zone: string): string {
  const { hour, minute } = wallOf(at, zone);
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** `09:00–17:00, 18:00–24:00` of a day's stretches. */
export function barsText(bars: readonly Bar[]): string {
  return bars.map(({ text }) => text).join(", ");
}

/** By how many minutes clocks are put forward on a day, negative for back; 0 on all others. */
export function clockChange({ at, hours }: DayBars, zone: string): number {
  return (offsetAt(at + hours * 3_600_000, zone) - offsetAt(at, zone)) / 60_000;
}

/** Where a calendar stands at an instant, of its windows around it. */
export function stateAt(windows: readonly Window[], at: number): { open: boolean; until: number | null } {
  const current = windows.find(({ from, to }) => from <= at && at < to);
  if (current) return { open: true, until: current.to };
  return { open: false, until: windows.find(({ from }) => from > at)?.from ?? null };
}

/** Gaps of at most a minute between windows, such as days from 00:00 to 23:59 leave; seldom meant. */
export function shortGaps(windows: readonly Window[]): readonly Window[] {
  return windows.slice(1).flatMap(({ from }, index) => {
    const to = windows[index]?.to ?? from;
    return from - to <= 60_000 ? [{ from: to, to: from }] : [];
  });
}

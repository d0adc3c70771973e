/** Rows of a report, in groups, and what they amount to. Pure. */

import { startOfDay } from "../../time/zones";
import type { Column, Group, Item, Kind } from "./kinds";

export interface Row {
  /** Its place in the report. */
  index: number;
  item: Item;
}

/** What a row is grouped by: the vehicle's number, the driver's name, or the first instant of the local day. */
export function groupKey(kind: Kind<Item>, group: Group, zone: string): (row: Row) => string | number {
  if (group === "device") return ({ item }) => kind.deviceId(item);
  if (group === "driver") return ({ item }) => kind.driver?.(item) ?? "";
  const days = new Map<number, number>();
  return ({ item }) => {
    const from = kind.span(item)?.from;
    if (from === undefined) return 0;
    // Rows of one hour are of one day nearly always, and zones are slow to ask.
    const quarter = Math.floor(from / QUARTER_MS);
    let day = days.get(quarter);
    if (day === undefined) {
      day = startOfDay(quarter * QUARTER_MS, zone);
      days.set(quarter, day);
    }
    return day;
  };
}

/** No zone changes its day within a quarter of an hour. */
const QUARTER_MS = 15 * 60_000;

/** Rows by group, in the order of days or of the rows. */
export function groupsOf(
  kind: Kind<Item>,
  rows: readonly Row[],
  group: Group,
  zone: string,
): ReadonlyMap<string | number, readonly Item[]> {
  const key = groupKey(kind, group, zone);
  const found = new Map<string | number, Item[]>();
  for (const row of rows) {
    const of = key(row);
    const known = found.get(of);
    if (known) known.push(row.item);
    else found.set(of, [row.item]);
  }
  if (group !== "day") return found;
  return new Map([...found].sort(([one], [other]) => Number(one) - Number(other)));
}

/** A bar of a chart: a group, and what a column amounts to in it. */
export interface Bar {
  key: string | number;
  value: number;
}

/** The bars of a column; of vehicles and drivers the highest come first. */
export function barsOf(
  kind: Kind<Item>,
  rows: readonly Row[],
  column: Column<Item>,
  group: Group,
  zone: string,
): readonly Bar[] {
  const bars = [...groupsOf(kind, rows, group, zone)].map(([key, items]) => ({
    key,
    value: column.total?.(items) ?? 0,
  }));
  return group === "day" ? bars : bars.sort((one, other) => other.value - one.value);
}

/** A group in two spans. */
export interface Compared {
  key: string | number;
  now: readonly Item[];
  before: readonly Item[];
}

/** The groups of two spans side by side, those of the first span first. Days have no counterpart. */
export function comparedOf(
  kind: Kind<Item>,
  now: readonly Row[],
  before: readonly Row[],
  group: Exclude<Group, "day">,
): readonly Compared[] {
  const [these, those] = [now, before].map((rows) => groupsOf(kind, rows, group, "UTC"));
  const keys = new Set([...(these?.keys() ?? []), ...(those?.keys() ?? [])]);
  return [...keys].map((key) => ({ key, now: these?.get(key) ?? [], before: those?.get(key) ?? [] }));
}

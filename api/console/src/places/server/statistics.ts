/** The days of `GET /statistics` as columns of a chart. Pure. */

import type { Statistics } from "../../api/types";

/** The figures that are shown, vehicles first. The server answers 0 for all others. */
export const FIGURES = [
  "activeDevices",
  "messagesStored",
  "messagesReceived",
  "activeUsers",
  "requests",
  "mailSent",
  "smsSent",
  "geocoderRequests",
] as const;
export type Figure = (typeof FIGURES)[number];

/** Counts of distinct people and devices, which have no sum: whoever was here on two days would count twice. */
const DISTINCT: readonly Figure[] = ["activeDevices", "activeUsers"];
/** More days than fit side by side become months. */
export const MOST_DAYS = 92;

export interface Column {
  /** Instant within the day or month. */
  at: number;
  value: number;
}

export interface Chart {
  figure: Figure;
  columns: readonly Column[];
  isByMonth: boolean;
  /** Of all days; null where a sum says nothing. */
  total: number | null;
}

/** The charts of figures that are not 0 all the time; `monthOf` names the month of an instant. */
export function chartsOf(days: readonly Statistics[], monthOf: (at: number) => string): readonly Chart[] {
  const isByMonth = days.length > MOST_DAYS;
  return FIGURES.flatMap((figure) => {
    const isDistinct = DISTINCT.includes(figure);
    const columns = days.map((day) => ({ at: Date.parse(day.captureTime), value: day[figure] }));
    const total = columns.reduce((sum, { value }) => sum + value, 0);
    if (total === 0) return [];
    const shown = isByMonth ? byMonth(columns, isDistinct, monthOf) : columns;
    return [{ figure, columns: shown, isByMonth, total: isDistinct ? null : total }];
  });
}

function byMonth(columns: readonly Column[], isDistinct: boolean, monthOf: (at: number) => string) {
  const months = new Map<string, Column>();
  for (const { at, value } of columns) {
    const month = monthOf(at);
    const known = months.get(month);
    const sum = isDistinct ? Math.max(known?.value ?? 0, value) : (known?.value ?? 0) + value;
    months.set(month, { at: known?.at ?? at, value: sum });
  }
  return [...months.values()];
}

/** Active vehicles by protocol on the day that had most, most first. */
export function protocolsOf(days: readonly Statistics[]): readonly [string, number][] {
  const most = new Map<string, number>();
  for (const { protocols } of days)
    for (const [name, count] of Object.entries(protocols ?? {}))
      most.set(name, Math.max(most.get(name) ?? 0, count));
  return [...most].sort(([, one], [, other]) => other - one);
}

/** What the library shows: filters in the address, days, names. Pure but for the names of vehicles. */

import type { Query } from "../../api/call";
import type { Media } from "../../api/types";
import { withQuery } from "../../router";

export const KINDS = ["capture", "photo", "still", "film", "sound"] as const;
export type Kind = (typeof KINDS)[number];
/** Days that can be chosen; 0 is all. */
export const SPANS = [0, 1, 7, 30] as const;
const DAY_MS = 86_400_000;

export interface Filters {
  deviceId: number | null;
  kinds: readonly Kind[];
  /** The days before now, or 0. */
  days: number;
  kept: boolean;
  /** Words that are searched for. */
  text: string;
}

export function filtersOf(query: URLSearchParams): Filters {
  const days = Number(query.get("days"));
  const kinds = (query.get("kind") ?? "").split(",");
  return {
    deviceId: Number(query.get("deviceId")) || null,
    kinds: KINDS.filter((kind) => kinds.includes(kind)),
    days: SPANS.find((each) => each === days) ?? 0,
    kept: query.get("kept") === "true",
    text: query.get("q") ?? "",
  };
}

export function addressOf({ deviceId, kinds, days, kept, text }: Filters): string {
  return withQuery("/library", {
    deviceId: deviceId === null ? null : String(deviceId),
    kind: kinds.join(",") || null,
    days: days ? String(days) : null,
    kept: kept ? "true" : null,
    q: text || null,
  });
}

/** What the server is asked for; `named` are the vehicles whose name holds the words. */
export function requestOf(filters: Filters, named: readonly number[], now: number): Query {
  const { deviceId, kinds, days, kept } = filters;
  return {
    ...(deviceId !== null ? { deviceId } : named.length > 0 && { deviceId: named }),
    ...(kinds.length > 0 && { kind: kinds }),
    ...(kept && { kept }),
    ...(days > 0 && { from: new Date(now - days * DAY_MS).toISOString() }),
  };
}

/** The entries by the days of the reader, as they stand in the list. */
export function daysOf(items: readonly Media[], zone: string): readonly { day: string; items: Media[] }[] {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
  const days: { day: string; items: Media[] }[] = [];
  for (const item of items) {
    const day = format.format(Date.parse(item.time));
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}

/** Milliseconds that a film lasts, or null. */
export function lengthOf({ duration, startTime, endTime }: Media): number | null {
  return duration ?? (startTime && endTime ? Date.parse(endTime) - Date.parse(startTime) : null);
}

/** The log of commands (docs/commands.md#log): filters in the address, what is asked for, and what fits. Pure. */

import type { Query } from "../../api/call";
import type { LoggedCommand } from "../../api/types";
import { withQuery } from "../../router";

export type State = LoggedCommand["state"];

export const STATES: readonly State[] = [
  "QUEUED",
  "SENT",
  "ANSWERED",
  "REFUSED",
  "EXPIRED",
  "CANCELLED",
  "UNKNOWN",
];
/** Days that can be chosen; 0 is all. */
export const SPANS = [0, 1, 7, 30] as const;
const DAY_MS = 86_400_000;

export interface Filters {
  deviceId: number | null;
  userId: number | null;
  states: readonly State[];
  /** The days before now, or 0. */
  days: number;
}

export function filtersOf(query: URLSearchParams): Filters {
  const days = Number(query.get("days"));
  const states = (query.get("state") ?? "").toUpperCase().split(",");
  return {
    deviceId: Number(query.get("deviceId")) || null,
    userId: Number(query.get("userId")) || null,
    states: STATES.filter((state) => states.includes(state)),
    days: SPANS.find((each) => each === days) ?? 0,
  };
}

export function addressOf({ deviceId, userId, states, days }: Filters): string {
  return withQuery("/commands", {
    deviceId: deviceId === null ? null : String(deviceId),
    userId: userId === null ? null : String(userId),
    state: states.join(",").toLowerCase() || null,
    days: days ? String(days) : null,
  });
}

/** What the server is asked for. */
export function requestOf(filters: Filters, now: number): Query {
  const { deviceId, userId, states, days } = filters;
  return {
    ...(deviceId !== null && { deviceId }),
    ...(userId !== null && { userId }),
    ...(states.length > 0 && { state: states }),
    ...(days > 0 && { from: new Date(now - days * DAY_MS).toISOString() }),
  };
}

/** A list, the newest first, with commands that the socket tells: new ones that fit, and what became of others. */
export function merged(
  items: readonly LoggedCommand[],
  told: readonly LoggedCommand[],
  filters: Filters,
): readonly LoggedCommand[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const oldest = items.at(-1)?.id ?? 0;
  for (const each of told) {
    // What stands on a page that was not read yet comes with it.
    if (fits(each, filters) && (byId.has(each.id) || each.id > oldest)) byId.set(each.id, each);
    else byId.delete(each.id);
  }
  return [...byId.values()].sort((a, b) => b.id - a.id);
}

function fits({ deviceId, userId, state }: LoggedCommand, filters: Filters): boolean {
  return (
    (filters.deviceId === null || filters.deviceId === deviceId) &&
    (filters.userId === null || filters.userId === userId) &&
    (filters.states.length === 0 || filters.states.includes(state))
  );
}

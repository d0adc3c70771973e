/** Which events a list shows: the filters of its address, with the names of `GET /events`. */

import type { Query } from "../../api/call";
import { withQuery } from "../../router";
import { resolveSpan, type SpanText, spanOfQuery } from "../../time/spans";
import { kindsOf, parametersOf } from "./kinds";

export interface EventFilters {
  deviceId: number | null;
  groupId: number | null;
  /** As `kinds.ts` has them; none is all. */
  kinds: readonly string[];
  span: SpanText;
  /** Of the review; what waits is of any age, so that the span does not count. */
  state: EventState;
}

/** `ALL` is also what needs no review. */
export const STATES = ["OPEN", "ACKNOWLEDGED", "DISMISSED", "ALL"] as const;
export type EventState = (typeof STATES)[number];

export const LAST_DAY: SpanText = { from: "now-1d", to: "now" };
/** The longest span that the server lists. */
const MOST_MS = 31 * 86_400_000;

/** Without a word of the address: what waits; with a span, as in older links, all of it. */
function usualState(query: URLSearchParams): EventState {
  return query.has("from") && query.has("to") ? "ALL" : "OPEN";
}

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): EventFilters {
  return {
    deviceId: idOf(query.get("deviceId")),
    groupId: idOf(query.get("groupId")),
    kinds: kindsOf(query.getAll("type"), query.getAll("alarm")),
    span: spanOfQuery(query, LAST_DAY),
    state: STATES.find((each) => each === query.get("state")) ?? usualState(query),
  };
}

/** The address of a list with these filters. */
export function addressOf(path: string, filters: EventFilters): string {
  const query = new URLSearchParams();
  const { type, alarm } = parametersOf(filters.kinds);
  // The path of a vehicle names it already.
  const ofVehicle = path.startsWith("/vehicles/");
  if (filters.deviceId !== null && !ofVehicle) query.set("deviceId", String(filters.deviceId));
  if (filters.groupId !== null) query.set("groupId", String(filters.groupId));
  for (const each of type) query.append("type", each);
  for (const each of alarm) query.append("alarm", each);
  const hasSpan = filters.span.from !== LAST_DAY.from || filters.span.to !== LAST_DAY.to;
  if ((ofVehicle || filters.state !== "OPEN") && hasSpan) {
    query.set("from", filters.span.from);
    query.set("to", filters.span.to);
  }
  if (!ofVehicle && filters.state !== usualState(query)) query.set("state", filters.state);
  return withQuery(path, query);
}

/** What to ask the server for; null if it lists no such span. */
export function requestOf(filters: EventFilters, now: number, zone: string): Query | null {
  const span = resolveSpan(filters.span, now, zone);
  if (!span || span.to - span.from > MOST_MS) return null;
  const { deviceId, groupId } = filters;
  const [from, to] = [span.from, span.to].map((instant) => new Date(instant).toISOString());
  const state = filters.state === "ALL" ? null : filters.state;
  return { from, to, deviceId, groupId, state, ...parametersOf(filters.kinds) };
}

/** Whether the span ends with the present, so that new events belong to it. */
export function isOpen({ span }: EventFilters): boolean {
  return span.to.startsWith("now");
}

function idOf(text: string | null): number | null {
  const id = Number(text);
  return text && Number.isInteger(id) && id > 0 ? id : null;
}

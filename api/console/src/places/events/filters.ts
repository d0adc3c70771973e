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
}

export const LAST_DAY: SpanText = { from: "now-1d", to: "now" };
/** The longest span that the server lists. */
const MOST_MS = 31 * 86_400_000;

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): EventFilters {
  return {
    deviceId: idOf(query.get("deviceId")),
    groupId: idOf(query.get("groupId")),
    kinds: kindsOf(query.getAll("type"), query.getAll("alarm")),
    span: spanOfQuery(query, LAST_DAY),
  };
}

/** The address of a list with these filters. */
export function addressOf(path: string, filters: EventFilters): string {
  const query = new URLSearchParams();
  const { type, alarm } = parametersOf(filters.kinds);
  // The path of a vehicle names it already.
  if (filters.deviceId !== null && !path.startsWith("/vehicles/"))
    query.set("deviceId", String(filters.deviceId));
  if (filters.groupId !== null) query.set("groupId", String(filters.groupId));
  for (const each of type) query.append("type", each);
  for (const each of alarm) query.append("alarm", each);
  if (filters.span.from !== LAST_DAY.from || filters.span.to !== LAST_DAY.to) {
    query.set("from", filters.span.from);
    query.set("to", filters.span.to);
  }
  return withQuery(path, query);
}

/** What to ask the server for; null if it lists no such span. */
export function requestOf(filters: EventFilters, now: number, zone: string): Query | null {
  const span = resolveSpan(filters.span, now, zone);
  if (!span || span.to - span.from > MOST_MS) return null;
  const { deviceId, groupId } = filters;
  const [from, to] = [span.from, span.to].map((instant) => new Date(instant).toISOString());
  return { from, to, deviceId, groupId, ...parametersOf(filters.kinds) };
}

/** Whether the span ends with the present, so that new events belong to it. */
export function isOpen({ span }: EventFilters): boolean {
  return span.to.startsWith("now");
}

function idOf(text: string | null): number | null {
  const id = Number(text);
  return text && Number.isInteger(id) && id > 0 ? id : null;
}

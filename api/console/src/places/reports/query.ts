/** What an address of a report asks for, and the request to the API that it amounts to. Pure. */

import type { Query } from "../../api/call";
import { withQuery } from "../../router";
import { instantText, resolveSpan, type Span, type SpanText, spanOfQuery } from "../../time/spans";
import { startOfDay } from "../../time/zones";
import { parametersOf } from "../events/kinds";
import { type Group, type Kind, type KindName, kindOf } from "./kinds";

/** Yesterday: a whole day, which does not change any more. */
export const USUAL: SpanText = { from: "now-1d/d", to: "now-1d/d" };
export const LEAST_RADIUS = 10;
export const MOST_RADIUS = 5000;

/** What the rows of a span are compared with. */
export type Against = "before" | "week" | "month" | "year";
export const AGAINST: readonly Against[] = ["before", "week", "month", "year"];

export interface Asked {
  kind: KindName;
  deviceIds: readonly number[];
  groupIds: readonly number[];
  span: SpanText;
  group: Group | null;
  sort: { key: string; descending: boolean } | null;
  against: Against | null;
  daily: boolean;
  /** Kinds of events, as `kindsOf` in places/events/kinds.ts has them. */
  kinds: readonly string[];
  zoneIds: readonly number[];
  attributes: readonly string[];
  place: { latitude: number; longitude: number } | null;
  radius: number;
}

/** What an address asks for; what it says wrongly does not count. `kinds` are those of its events. */
export function askedOf(kind: KindName, query: URLSearchParams, kinds: readonly string[]): Asked {
  const ids = (name: string) =>
    [...new Set(query.getAll(name).map(Number))].filter((id) => Number.isSafeInteger(id) && id > 0);
  const known = kindOf(kind);
  const sort = query.get("sort");
  const [latitude, longitude] = ["latitude", "longitude"].map((name) => numberOf(query.get(name)));
  const hasPlace =
    latitude != null && longitude != null && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  const radius = numberOf(query.get("radius")) ?? 100;
  return {
    kind,
    deviceIds: ids("deviceId"),
    groupIds: ids("groupId"),
    span: spanOfQuery(query, USUAL),
    group: known.groups.find((each) => each === query.get("by")) ?? null,
    sort: sort ? { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") } : null,
    against: AGAINST.find((each) => each === query.get("against")) ?? null,
    daily: query.get("daily") === "true",
    kinds,
    zoneIds: ids("geofenceId"),
    attributes: query.getAll("attribute").filter(Boolean),
    place: hasPlace ? { latitude, longitude } : null,
    radius: Math.min(MOST_RADIUS, Math.max(LEAST_RADIUS, radius)),
  };
}

function numberOf(text: string | null): number | null {
  const value = Number(text ?? "");
  return text && Number.isFinite(value) ? value : null;
}

/** The address of a report; names are those of the API, with `by`, `sort` and `against` for what the page does. */
export function addressOf(asked: Asked): string {
  const { kind, span, sort } = asked;
  const query = new URLSearchParams();
  for (const id of asked.deviceIds) query.append("deviceId", `${id}`);
  for (const id of asked.groupIds) query.append("groupId", `${id}`);
  if (kind !== "devices") {
    query.set("from", span.from);
    query.set("to", span.to);
  }
  for (const [name, value] of Object.entries(optionsOf(asked))) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== undefined && each !== "") query.append(name, String(each));
  }
  if (asked.group) query.set("by", asked.group);
  if (sort) query.set("sort", `${sort.descending ? "-" : ""}${sort.key}`);
  if (asked.against) query.set("against", asked.against);
  return withQuery(`/reports/${kind}`, query);
}

/** The same for another kind, which takes over what it has as well. */
export function withKind(asked: Asked, kind: KindName): Asked {
  const { groups, compared } = kindOf(kind);
  return {
    ...asked,
    kind,
    group: asked.group && groups.includes(asked.group) ? asked.group : null,
    sort: null,
    against: compared.length > 0 ? asked.against : null,
  };
}

/** Parameters of the kind besides who and when. */
function optionsOf(asked: Asked): Query {
  const has = new Set(kindOf(asked.kind).options);
  return {
    ...(has.has("daily") && asked.daily && { daily: true }),
    ...(has.has("kinds") && parametersOf(asked.kinds)),
    ...(has.has("zones") && { geofenceId: asked.zoneIds }),
    ...(has.has("attributes") && { attribute: asked.attributes }),
    ...(has.has("place") && asked.place && { ...asked.place, radius: asked.radius }),
  };
}

/** The parameters of the request; null where the span is not understood, or something that it needs is missing. */
export function requestOf(asked: Asked, span: Span | null, zone: string): Query | null {
  if (missing(asked) !== null || (asked.kind !== "devices" && !span)) return null;
  return {
    deviceId: asked.deviceIds,
    groupId: asked.groupIds,
    ...(span && asked.kind !== "devices" && { from: instantText(span.from), to: instantText(span.to - 1) }),
    ...optionsOf(asked),
    timezone: zone,
  };
}

/** What has to be chosen before there is a report. */
export function missing(asked: Asked): "zones" | "place" | null {
  const { options } = kindOf(asked.kind);
  if (options.includes("zones") && asked.zoneIds.length === 0) return "zones";
  if (options.includes("place") && !asked.place) return "place";
  return null;
}

/** The span that another one is compared with. Whole days stay whole days. */
export function otherSpan(span: Span, against: Against, zone: string): Span {
  const whole = span.from === startOfDay(span.from, zone) && span.to === startOfDay(span.to, zone);
  const days = Math.round((span.to - span.from) / DAY_MS);
  if (against === "before")
    return whole
      ? { from: startOfDay(span.from, zone, -days), to: span.from }
      : { from: span.from - (span.to - span.from), to: span.from };
  const back = { week: "now-1w", month: "now-1M", year: "now-12M" }[against];
  const moved = (at: number) => resolveSpan({ from: back, to: "now+1s" }, at, zone)?.from ?? at;
  if (against === "week") return { from: moved(span.from), to: moved(span.to) };
  const from = moved(span.from);
  // A month may be shorter: the other span is as long as this one.
  return { from, to: whole ? startOfDay(from, zone, days) : from + (span.to - span.from) };
}

const DAY_MS = 86_400_000;

/** The reports that scheduled ones may be of. */
export function isScheduled(kind: Kind<object>): boolean {
  return kind.name !== "devices";
}

/**
 * Spans as the address holds them: instants with `Z`, or words that stay relative to the present: `now`, `now-2h`,
 * `now-1d/d` for the start of yesterday, or its end where a span ends.
 */

import { addDays, startOfDay, startOfMonth, startOfWeek } from "./zones";

/** Two ends as they stand in an address. */
export interface SpanText {
  from: string;
  to: string;
}

/** Two instants, in milliseconds since 1970; `from` is before `to`. */
export interface Span {
  from: number;
  to: number;
}

const RELATIVE = /^now(?:([+-])(\d{1,5})([smhdwM]))?(?:\/([dwM]))?$/;
const FIXED: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The instant that `text` stands for, or null. The end of a span is rounded up to the end of its day, week or month. */
export function resolveEnd(text: string, now: number, zone: string, end: "from" | "to"): number | null {
  const found = RELATIVE.exec(text);
  if (!found) return parseInstant(text);
  const [, sign, count, unit, round] = found;
  let instant = now;
  if (sign && count && unit) instant = shift(now, zone, unit, sign === "-" ? -Number(count) : Number(count));
  const more = end === "to" ? 1 : 0;
  if (round === "d") return startOfDay(instant, zone, more);
  if (round === "w") return startOfWeek(instant, zone, more);
  if (round === "M") return startOfMonth(instant, zone, more);
  return instant;
}

function shift(now: number, zone: string, unit: string, count: number): number {
  const fixed = FIXED[unit];
  if (fixed) return now + fixed * count;
  if (unit === "d") return addDays(now, zone, count);
  if (unit === "w") return addDays(now, zone, 7 * count);
  return startOfMonth(now, zone, count) + (now - startOfMonth(now, zone));
}

/** An instant as ISO 8601 with `Z` or an offset, or null; a time without a zone would be another one elsewhere. */
export function parseInstant(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? null : instant;
}

/** An instant for the address: no milliseconds where they are zero. */
export function instantText(instant: number): string {
  return new Date(instant).toISOString().replace(".000Z", "Z");
}

/** The instants of a span, or null where an end cannot be read or the span is empty. */
export function resolveSpan(text: SpanText, now: number, zone: string): Span | null {
  const from = resolveEnd(text.from, now, zone, "from");
  const to = resolveEnd(text.to, now, zone, "to");
  return from === null || to === null || from >= to ? null : { from, to };
}

/** The span of an address, or the given one where the address has none. */
export function spanOfQuery(query: URLSearchParams, otherwise: SpanText): SpanText {
  const from = query.get("from");
  const to = query.get("to");
  return from && to ? { from, to } : otherwise;
}

/** The same span as instants, for a link that means the same tomorrow. */
export function fixedSpan(text: SpanText, now: number, zone: string): SpanText | null {
  const span = resolveSpan(text, now, zone);
  return span && { from: instantText(span.from), to: instantText(span.to) };
}

/** The span before (-1) or after (1). Whole days stay whole days, also over a change of the clocks. */
export function neighbor(span: Span, zone: string, direction: -1 | 1): SpanText {
  const days = wholeDays(span, zone);
  const from =
    days > 0 ? startOfDay(span.from, zone, direction * days) : span.from + direction * (span.to - span.from);
  const to =
    days > 0 ? startOfDay(span.to, zone, direction * days) : span.to + direction * (span.to - span.from);
  return { from: instantText(from), to: instantText(to) };
}

/** Twice as long around the same middle. */
export function wider(span: Span): SpanText {
  const half = (span.to - span.from) / 2;
  return { from: instantText(Math.round(span.from - half)), to: instantText(Math.round(span.to + half)) };
}

/** Number of days if the span begins and ends with a day, else 0. */
function wholeDays(span: Span, zone: string): number {
  if (span.from !== startOfDay(span.from, zone) || span.to !== startOfDay(span.to, zone)) return 0;
  return Math.round((span.to - span.from) / 86_400_000);
}

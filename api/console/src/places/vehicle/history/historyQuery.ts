/** What an address of a history asks for: `?from=&to=&at=&view=&channel=`. Pure. */

import { instantText, parseInstant, resolveSpan, type Span, type SpanText } from "../../../time/spans";
import { startOfDay } from "../../../time/zones";

const TODAY: SpanText = { from: "now/d", to: "now" };

/** The span of an address as it is written: its own, else the day of `at`, else today. */
export function askedText(query: URLSearchParams, zone: string): SpanText {
  const [from, to] = [query.get("from"), query.get("to")];
  if (from && to) return { from, to };
  const at = askedAt(query);
  return at === null ? TODAY : dayOf(at, zone);
}

/** The local day of an instant. */
export function dayOf(at: number, zone: string): SpanText {
  return { from: instantText(startOfDay(at, zone)), to: instantText(startOfDay(at, zone, 1)) };
}

/** The instants of a span; null where it cannot be read. Just after midnight today has not begun: it is a minute. */
export function askedSpan(text: SpanText, now: number, zone: string): Span | null {
  const span = resolveSpan(text, now, zone);
  if (span || text.from !== TODAY.from || text.to !== TODAY.to) return span;
  return { from: now - 60_000, to: now };
}

/** The instant of an address, or null. */
export function askedAt(query: URLSearchParams): number | null {
  return parseInstant(query.get("at") ?? "");
}

/** The part of the span that is zoomed to, or the span. */
export function askedView(query: URLSearchParams, span: Span): Span {
  const [from, to] = (query.get("view") ?? "").split("/").map(parseInstant);
  if (from == null || to == null) return span;
  const view = { from: Math.max(from, span.from), to: Math.min(to, span.to) };
  return view.from < view.to ? view : span;
}

/** The query with an instant, to the second, and the part that is zoomed to. */
export function withCursor(query: URLSearchParams, at: number, view: Span, span: Span): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set("at", second(at));
  if (view.from === span.from && view.to === span.to) next.delete("view");
  else next.set("view", `${second(view.from)}/${second(view.to)}`);
  return next;
}

function second(at: number): string {
  return instantText(Math.round(at / 1000) * 1000);
}

/** Instants and pixels of a timeline. Pure. */

import type { Span } from "../time/spans";
import { offsetAt } from "../time/zones";

/** The shortest span that can be shown. */
export const SHORTEST_MS = 60_000;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364].map((count) => count * DAY),
];
const TICK_PX = 78;

/** Pixels from the left at which an instant stands in a plot of this width. */
export function xOf(at: number, { from, to }: Span, width: number): number {
  return ((at - from) / (to - from)) * width;
}

/** The instant at pixels from the left. */
export function atOf(x: number, { from, to }: Span, width: number): number {
  return from + (width > 0 ? x / width : 0) * (to - from);
}

/** The span after zooming around an instant, which stays where it is; below 1 the span becomes shorter. */
export function zoomed(span: Span, around: number, factor: number, limit: Span): Span {
  const most = limit.to - limit.from;
  const length = Math.min(most, Math.max(Math.min(SHORTEST_MS, most), (span.to - span.from) * factor));
  const part = (around - span.from) / (span.to - span.from);
  return within({ from: around - part * length, to: around + (1 - part) * length }, limit);
}

/** The span after moving it, no further than the limit. */
export function moved({ from, to }: Span, by: number, limit: Span): Span {
  return within({ from: from + by, to: to + by }, limit);
}

/** The span, moved so far that it holds an instant. */
export function revealing(span: Span, at: number, limit: Span): Span {
  if (at >= span.from && at <= span.to) return span;
  return moved(span, at < span.from ? at - span.from : at - span.to, limit);
}

/** A span of the same length that lies in the limit, or the limit. */
function within({ from, to }: Span, limit: Span): Span {
  const length = Math.min(to - from, limit.to - limit.from);
  const begin = Math.min(Math.max(from, limit.from), limit.to - length);
  return { from: begin, to: begin + length };
}

/** Instants of the axis, on round times of the zone, and how far apart they are. */
export function ticks(span: Span, width: number, zone: string): { step: number; at: number[] } {
  const least = ((span.to - span.from) * TICK_PX) / Math.max(width, TICK_PX);
  const step = STEPS.find((each) => each >= least) ?? 364 * DAY;
  const offset = offsetAt(span.from, zone);
  const at: number[] = [];
  for (let local = Math.ceil((span.from + offset) / step) * step; ; local += step) {
    // The clocks may change within the span.
    const instant = local - offsetAt(local - offset, zone);
    if (instant > span.to) return { step, at };
    if (instant >= span.from && instant !== at.at(-1)) at.push(instant);
  }
}

/** What it will cost to fetch a span, by what the vehicle said of its recordings. Pure. */

import type { Recording } from "../../api/types";
import type { Span } from "../../time/spans";

export interface Estimate {
  /** Bytes of the vehicle's line; null where the vehicle did not say how large its recordings are. */
  bytes: number | null;
  /** Milliseconds of the span that the vehicle says it has; null where it was not asked. */
  covered: number | null;
}

/** Of a camera; `asked` says whether `recordings` is what the vehicle has of this time. */
export function estimate(
  recordings: readonly Recording[],
  camera: number,
  span: Span,
  asked: boolean,
): Estimate {
  let bytes = 0;
  let sized = false;
  const parts: Span[] = [];
  for (const each of recordings) {
    if (each.channel !== camera) continue;
    const from = Math.max(span.from, Date.parse(each.startTime));
    const to = Math.min(span.to, Date.parse(each.endTime));
    if (from >= to) continue;
    parts.push({ from, to });
    const length = Date.parse(each.endTime) - Date.parse(each.startTime);
    if (each.size > 0 && length > 0 && each.streamType !== 2) {
      sized = true;
      bytes += (each.size * (to - from)) / length;
    }
  }
  return { bytes: sized ? Math.round(bytes) : null, covered: asked ? lengthOf(parts) : null };
}

/** Length of spans that may overlap, in milliseconds. */
export function lengthOf(spans: readonly Span[]): number {
  let length = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    length += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length;
}

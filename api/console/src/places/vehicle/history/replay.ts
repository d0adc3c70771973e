/** The clock of a replay: it moves the cursor while no film does. */

import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Cursor, toggle } from "../../../time/cursor";
import type { Span } from "../../../time/spans";

/** Seconds in one. */
export const RATES = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64] as const;
/** The cursor is moved at most so often, in milliseconds. */
const PACE_MS = 66;

/** The rate after the next key: `+` or `-`. */
export function nextRate(rate: number, direction: -1 | 1): number {
  const index = RATES.findIndex((each) => each >= rate);
  return RATES[Math.max(0, Math.min(RATES.length - 1, index + direction))] ?? 1;
}

/** The instant after `elapsed` milliseconds at a rate; the replay ends with the span. */
export function instantAfter(at: number, elapsed: number, rate: number, { to }: Span): number {
  return Math.min(to, at + elapsed * rate);
}

/** Let the cursor go on while it plays. */
export function useReplay(cursor: Cursor, span: Span): void {
  useEffect(() => {
    let frame = 0;
    let last = 0;
    const beat = (time: number) => {
      frame = requestAnimationFrame(beat);
      if (last === 0) last = time;
      if (time - last < PACE_MS) return;
      // A page in the background gets no frames: it goes on from where it was.
      const at = instantAfter(cursor.at.peek(), Math.min(time - last, 1000), cursor.rate.peek(), span);
      last = time;
      cursor.at.value = at;
      if (at >= span.to) cursor.playing.value = false;
    };
    const end = effect(() => {
      cancelAnimationFrame(frame);
      last = 0;
      if (cursor.playing.value && !cursor.led.value && !cursor.held.value)
        frame = requestAnimationFrame(beat);
    });
    return () => {
      end();
      cancelAnimationFrame(frame);
    };
  }, [cursor, span]);
}

/** Play, or pause; at the end it begins anew. */
export function togglePlaying(cursor: Cursor, span: Span): void {
  if (!cursor.playing.peek() && cursor.at.peek() >= span.to) cursor.at.value = span.from;
  toggle(cursor);
}

/** Move the cursor by milliseconds, within the span. */
export function step(cursor: Cursor, by: number, { from, to }: Span): void {
  cursor.at.value = Math.min(to, Math.max(from, cursor.at.peek() + by));
}

/** The instant that a history shows: map, graph, lanes and film follow it. */

import { type Signal, signal } from "@preact/signals";
import type { Span } from "./spans";

export interface Cursor {
  /** Milliseconds since 1970. */
  at: Signal<number>;
  /** What the lanes and the graph show; the history itself may be longer. */
  span: Signal<Span>;
  playing: Signal<boolean>;
  /** How many seconds pass in one. */
  rate: Signal<number>;
  /** Whether a film moves `at`; while it does, no clock of the page may. */
  led: Signal<boolean>;
  /** Whether the hand holds it: neither film nor clock moves it then. */
  held: Signal<boolean>;
  /** Plays the film that there is of the instant while another one, or none, is open; null where there is none. */
  kept: Signal<(() => void) | null>;
}

/** A cursor that rests at an instant. */
export function makeCursor(span: Span, at: number): Cursor {
  return {
    at: signal(at),
    span: signal(span),
    playing: signal(false),
    rate: signal(1),
    led: signal(false),
    held: signal(false),
    kept: signal<(() => void) | null>(null),
  };
}

/** Pause; or play the film that leads or is kept of the instant, else the clock. */
export function toggle({ playing, led, kept }: Cursor): void {
  const film = kept.peek();
  if (film && !playing.peek() && !led.peek()) film();
  else playing.value = !playing.peek();
}

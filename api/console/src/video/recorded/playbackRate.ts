/** How fast recorded video plays: by the reader, by what arrives, and beside another camera. Pure. */

/** The fastest that a player plays by itself. */
export const FASTEST = 4;
/** The fastest that vehicles send, which have 1, 2, 4, 8 and 16. */
export const FASTEST_SENT = 16;
/** Cameras that are shown at once: of the six connections to a server two remain for all else. */
export const MOST_AT_ONCE = 4;
/** Cameras that differ by less are in step, in milliseconds. */
const IN_STEP_MS = 300;
/** Cameras that differ by more are not brought together by their speed. */
const FAR_MS = 2000;
/** While it rests, a picture that differs by less is the same. */
const SAME_MS = 40;
/** Fraction by which a camera plays faster or slower until it is in step. */
const EASE = 0.05;

/**
 * The rate at which a player plays what a vehicle sends `sent` times as fast: one for each second of media that is
 * there, since some vehicles send only key frames, whose times lie closer.
 */
export function catchUp(ahead: number, sent: number): number {
  return Math.max(1, Math.min(sent, ahead));
}

/**
 * What brings a camera in step with the one that has the clock: a rate, or a seek. `drift` is how many milliseconds
 * it is ahead.
 */
export function inStep(drift: number, rate: number, plays: boolean): number | "seek" {
  const far = Math.abs(drift);
  if (far > (plays ? FAR_MS : SAME_MS)) return "seek";
  if (far <= IN_STEP_MS) return rate;
  return rate * (drift > 0 ? 1 - EASE : 1 + EASE);
}

/** How a capture gets on: its size over time against the span that is wanted. Pure: times are given. */

/** A recording capture whose size has not grown for this long is reported as stopped. */
export const STILL_MS = 12_000;
/** The rate is that of the last samples, at most so many. */
const SAMPLES = 10;

export interface Progress {
  /** When each size was first seen, in milliseconds; the newest last. */
  samples: readonly (readonly [number, number])[];
}

export function beginProgress(): Progress {
  return { samples: [] };
}

/** The progress after a poll; the same object if the size has not changed. */
export function seen(progress: Progress, size: number, now: number): Progress {
  const last = progress.samples.at(-1);
  if (last && last[1] === size) return progress;
  return { samples: [...progress.samples, [now, size] as const].slice(-SAMPLES) };
}

/** Bytes a second, or null while it is not known. */
export function rateOf({ samples }: Progress): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last[0] - first[0] < 1000) return null;
  return ((last[1] - first[1]) * 1000) / (last[0] - first[0]);
}

/** Whether the vehicle has stopped sending. */
export function standsStill({ samples }: Progress, now: number): boolean {
  const last = samples.at(-1);
  return last !== undefined && now - last[0] >= STILL_MS;
}

/**
 * The part of the span that has arrived, 0 to 1, or null where it is not known: by the time in the recording where
 * the playback says it, else by the bytes that were expected.
 */
export function shareOf(
  span: { from: number; to: number } | null,
  arrivedTo: number | null,
  size: number,
  expected: number | null,
): number | null {
  const clip = (share: number) => Math.min(1, Math.max(0, share));
  if (span && arrivedTo !== null) return clip((arrivedTo - span.from) / (span.to - span.from));
  return expected ? clip(size / expected) : null;
}

/** When it will end, in milliseconds since 1970, or null. `began` is when it was begun. */
export function endOf(share: number | null, began: number, now: number): number | null {
  if (share === null || share < 0.02 || now - began < 3000) return null;
  return now + ((now - began) * (1 - share)) / share;
}

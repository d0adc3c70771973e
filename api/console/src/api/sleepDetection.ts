/**
 * Notices that the computer was asleep, or the page frozen: timers stood still while the clock went on. Connections may
 * be dead then without a word of it: what the other side sent meanwhile, its farewell included, is lost.
 */

const BEAT_MS = 5000;
/** Pages that nobody looks at have their timers held back for up to a minute. */
export const ASLEEP_MS = 90_000;

const listeners = new Set<() => void>();
let timer = 0;
let last = 0;

/** Call `listener` after each sleep. Returns what ends it. */
export function onWake(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    last = Date.now();
    timer = window.setInterval(beat, BEAT_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

function beat(): void {
  const passed = Date.now() - last;
  last += passed;
  if (passed < ASLEEP_MS) return;
  for (const listener of [...listeners]) listener();
}

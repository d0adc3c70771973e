/** Seconds to wait before the next attempt: 1, 2, 4 … 30, each up to a quarter more so that pages do not come at once. */
export function delayOf(attempt: number, random = Math.random()): number {
  return Math.min(30, 2 ** Math.min(attempt, 10)) * (1 + random / 4);
}

import { expect, test } from "vitest";
import { LatencyController, LEAST_SECONDS } from "./liveLatency";

/** Play segments that come at `arrivals`, from a time with `ahead` seconds in the buffer; returns what was left at each. */
function play(
  pace: LatencyController,
  length: number,
  arrivals: number[],
  ahead: number,
): { left: number[]; waits: number } {
  const seen: number[] = [];
  let rate = 1;
  let before = 0;
  let waits = 0;
  let buffer = ahead;
  for (const at of arrivals) {
    buffer -= (at - before) * rate;
    before = at;
    if (buffer < 0) {
      buffer = 0;
      waits += 1;
      pace.waited();
    }
    seen.push(buffer);
    const advance = pace.arrived(buffer, length);
    expect(advance.jump).toBeGreaterThanOrEqual(0);
    expect(advance.jump).toBeLessThan(buffer + length);
    buffer += length - advance.jump;
    rate = advance.rate;
    expect(rate).toBeGreaterThanOrEqual(1);
    expect(rate).toBeLessThanOrEqual(1.1);
  }
  return { left: seen, waits };
}

const every = (length: number, count: number, late: (n: number) => number = () => 0) =>
  Array.from({ length: count }, (_, n) => (n + 1) * length + late(n));

test("a picture that begins too far behind jumps once, to what has to be left", () => {
  const { left } = play(new LatencyController(), 2, every(2, 4), 4.5);
  expect(left[0]).toBeCloseTo(2.5);
  for (const each of left.slice(1)) expect(each).toBeCloseTo(LEAST_SECONDS);
});

test("a few tenths are made up for by speed, and no further", () => {
  const { left, waits } = play(new LatencyController(), 2, every(2, 20), 2.85);
  expect(left[0]).toBeCloseTo(0.85);
  expect(left.at(-1)).toBeLessThan(LEAST_SECONDS + 0.16);
  expect(left.at(-1)).toBeGreaterThan(LEAST_SECONDS - 0.11);
  expect(waits).toBe(0);
});

test("long segments gain no more than there is until the next one comes", () => {
  const pace = new LatencyController();
  pace.arrived(LEAST_SECONDS, 20);
  expect(pace.arrived(LEAST_SECONDS, 20).rate).toBe(1);
  const { waits, left } = play(new LatencyController(), 20, every(20, 12), 20.8);
  expect(waits).toBe(0);
  expect(Math.min(...left)).toBeGreaterThanOrEqual(0);
});

test("segments that come unevenly are followed by the latest of them", () => {
  // Every third one is 0.9 s late.
  const { left, waits } = play(
    new LatencyController(),
    2,
    every(2, 60, (n) => (n % 3 === 2 ? 0.9 : 0)),
    4,
  );
  expect(waits).toBeLessThanOrEqual(3);
  expect(Math.min(...left.slice(10))).toBeLessThan(LEAST_SECONDS + 0.7);
});

test("a picture that had to wait stays further behind for some minutes", () => {
  const pace = new LatencyController();
  pace.arrived(LEAST_SECONDS, 2);
  pace.waited();
  expect(pace.arrived(LEAST_SECONDS + 0.5, 2).rate).toBe(1);
  for (let n = 0; n < 200; n += 1) pace.arrived(LEAST_SECONDS + 0.5, 2);
  expect(pace.arrived(LEAST_SECONDS + 0.5, 2).rate).toBeGreaterThan(1);
});

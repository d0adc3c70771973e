import { expect, test } from "vitest";
import { beginProgress, endOf, rateOf, seen, shareOf, standsStill } from "./progress";

const sizes = (...given: [number, number][]) =>
  given.reduce((progress, [now, size]) => seen(progress, size, now), beginProgress());

test("the rate is that of the sizes that were seen", () => {
  expect(rateOf(sizes([0, 0]))).toBe(null);
  expect(rateOf(sizes([0, 0], [2000, 100_000], [4000, 400_000]))).toBe(100_000);
});

test("a size that stands still is noticed, and a slow one is not", () => {
  const slow = sizes([0, 0], [11_000, 10], [22_000, 20]);
  expect(standsStill(slow, 33_999)).toBe(false);
  expect(standsStill(slow, 34_000)).toBe(true);
  expect(standsStill(seen(slow, 20, 33_000), 34_000)).toBe(true);
  expect(standsStill(seen(slow, 21, 34_000), 34_000)).toBe(false);
});

test("the share is told by the time in the recording before the bytes", () => {
  const span = { from: 1000, to: 2000 };
  expect(shareOf(span, 1250, 900, 1000)).toBe(0.25);
  expect(shareOf(span, null, 900, 1000)).toBe(0.9);
  expect(shareOf(span, 2500, 0, null)).toBe(1);
  expect(shareOf(null, null, 900, null)).toBe(null);
});

test("the end is told once enough has come", () => {
  expect(endOf(0.5, 0, 60_000)).toBe(120_000);
  expect(endOf(0.01, 0, 60_000)).toBe(null);
  expect(endOf(0.5, 0, 1000)).toBe(null);
  expect(endOf(null, 0, 60_000)).toBe(null);
});

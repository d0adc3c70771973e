import { expect, test } from "vitest";
import { delayOf } from "./backoff";

test("delays double up to half a minute, and are spread", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => delayOf(attempt, 0))).toEqual([
    1, 2, 4, 8, 16, 30, 30, 30,
  ]);
  expect(delayOf(1, 1)).toBe(2.5);
});

import { expect, test } from "vitest";
import { clockOf } from "./clock";

test("the clock of a camera is an attribute of its vehicle, within ten seconds", () => {
  const attributes = { "console.clock1": -1500, "console.clock2": 60_000, "console.clock3": "soon" };
  expect([1, 2, 3, 4].map((camera) => clockOf({ attributes }, camera))).toEqual([-1500, 10_000, 0, 0]);
  expect(clockOf(undefined, 1)).toBe(0);
});

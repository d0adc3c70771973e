import { expect, test } from "vitest";
import { catchUp, inStep } from "./playbackRate";

test("cameras within 0.3 s are left alone, within 2 s they ease together, else they seek", () => {
  expect(inStep(300, 2, true)).toBe(2);
  expect(inStep(-300, 2, true)).toBe(2);
  expect(inStep(301, 2, true)).toBeCloseTo(1.9);
  expect(inStep(-2000, 1, true)).toBeCloseTo(1.05);
  expect(inStep(2001, 1, true)).toBe("seek");
});

test("pictures that rest are of one instant", () => {
  expect(inStep(40, 1, false)).toBe(1);
  expect(inStep(-100, 1, false)).toBe("seek");
});

test("what is sent faster plays as fast as it arrives", () => {
  expect(catchUp(0.3, 8)).toBe(1);
  expect(catchUp(5, 8)).toBe(5);
  expect(catchUp(30, 16)).toBe(16);
});

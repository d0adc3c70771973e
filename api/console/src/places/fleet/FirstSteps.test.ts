import { expect, test } from "vitest";
import { deviceOf, positionOf } from "../../testing/records";
import { stepsDone } from "./FirstSteps";

test("steps are done by what the server has heard", () => {
  const device = deviceOf(1, { lastUpdate: null });
  expect(stepsDone([])).toBe(1);
  expect(stepsDone([{ device, position: undefined }])).toBe(2);
  expect(
    stepsDone([{ device: { ...device, lastUpdate: "2026-05-01T12:00:00Z" }, position: undefined }]),
  ).toBe(3);
  const nowhere = positionOf(1, { latitude: 0, longitude: 0, valid: false });
  expect(stepsDone([{ device, position: nowhere }])).toBe(4);
  expect(stepsDone([{ device, position: positionOf(1) }])).toBe(5);
});

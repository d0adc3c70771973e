import { expect, test } from "vitest";
import { clockOf, spanOfCamera, spanShown } from "./clock";

test("the clock of a camera is an attribute of its vehicle, within ten seconds", () => {
  const attributes = { "console.clock1": -1500, "console.clock2": 60_000, "console.clock3": "soon" };
  expect([1, 2, 3, 4].map((camera) => clockOf({ attributes }, camera))).toEqual([-1500, 10_000, 0, 0]);
  expect(clockOf(undefined, 1)).toBe(0);
});

test("the vehicle is asked by the times of the camera, for whole seconds that hold all of what is shown", () => {
  const shown = { from: 100_000, to: 160_000 };
  expect(spanOfCamera(shown, 0)).toEqual(shown);
  // A camera that is two seconds late writes 98 where it is 100.
  expect(spanOfCamera(shown, 2000)).toEqual({ from: 98_000, to: 158_000 });
  expect(spanOfCamera(shown, -500)).toEqual({ from: 100_000, to: 161_000 });
  // The server takes requests of the past only, whatever the camera says.
  expect(spanOfCamera(shown, -500, 160_300)).toEqual(shown);
  expect(spanOfCamera(shown, -500, 161_000).to).toBe(161_000);
  for (const clock of [-9500, -500, 0, 500, 2000]) {
    const asked = spanOfCamera(shown, clock);
    const seen = spanShown(asked, clock);
    expect(seen.from <= shown.from && seen.to >= shown.to).toBe(true);
    expect(spanOfCamera(seen, clock)).toEqual(asked);
  }
});

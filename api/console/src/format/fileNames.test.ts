import { expect, test } from "vitest";
import { pictureName } from "./fileNames";

test("a picture is named after vehicle, camera and the reader's time, as every system takes it", () => {
  const at = Date.UTC(2026, 10, 22, 23, 32, 7);
  expect(pictureName('Bus 7/B: "North"', 2, null, at, "UTC", "png")).toBe(
    "Bus-7-B-North_camera-2_2026-11-22_23.32.07.png",
  );
  expect(pictureName("Müller 货车", 1, "front / left", at, "Europe/Berlin", "mp4")).toBe(
    "Müller-货车_camera-1-front-left_2026-11-23_00.32.07.mp4",
  );
  expect(pictureName("///", 1, null, at, "UTC", "png")).toBe("vehicle_camera-1_2026-11-22_23.32.07.png");
  expect(pictureName("x".repeat(99), 1, null, at, "UTC", "png")).toBe(
    `${"x".repeat(60)}_camera-1_2026-11-22_23.32.07.png`,
  );
});

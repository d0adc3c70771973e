import { expect, test } from "vitest";
import { stillName } from "./stillImage";

test("a still is named after vehicle, camera and time, as every system takes it", () => {
  const at = Date.UTC(2026, 10, 22, 14, 32, 7);
  expect(stillName('Bus 7/B: "North"', 2, at)).toBe("Bus 7 B North camera 2 2026-11-22 14.32.07.png");
  expect(stillName("///", 1, at)).toBe("vehicle camera 1 2026-11-22 14.32.07.png");
});

import { expect, test } from "vitest";
import { nameIn, renamed } from "./cameraNames";

test("a name is a text that is not empty", () => {
  expect(nameIn({ cameras: { "1": "front" } }, 1)).toBe("front");
  for (const cameras of [undefined, null, "front", ["front"], { "2": "front" }, { "1": 5 }, { "1": " " }])
    expect(nameIn({ cameras }, 1)).toBeNull();
});

test("a camera is renamed beside the others, and loses its name", () => {
  expect(renamed({ cameras: { "1": "front" } }, 2, " cabin ")).toEqual({ "1": "front", "2": "cabin" });
  expect(renamed({ cameras: { "1": "front", "2": "cabin" } }, 2, "")).toEqual({ "1": "front" });
  expect(renamed({ cameras: { "1": "front" } }, 1, " ")).toBeUndefined();
  expect(renamed({ cameras: "odd" }, 1, "front")).toEqual({ "1": "front" });
});

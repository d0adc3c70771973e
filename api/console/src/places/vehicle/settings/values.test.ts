import { describe, expect, test } from "vitest";
import { styleOf } from "../../../format/style";
import {
  enteredOf,
  instantOfLocal,
  KNOWN,
  type KnownAttribute,
  localTime,
  otherAttributes,
  storedOf,
  withOthers,
} from "./values";

const style = styleOf(null, { attributes: { speedUnit: "kmh" } }, "en");
const known = (name: string) => KNOWN.find((each) => each.name === name) as KnownAttribute;

describe("known attributes", () => {
  test("are entered in the reader's unit and stored in that of the API", () => {
    const stored = storedOf(known("speedLimit"), "50", style);
    expect(stored).toBeCloseTo(26.998, 3);
    expect(enteredOf(known("speedLimit"), stored, style)).toBe("50");
    expect(storedOf(known("deviceInactivityStart"), "1,5", style)).toBe(5_400_000);
  });

  test("are removed by an empty field, and refused where they are no such number", () => {
    expect(storedOf(known("channels"), " ", style)).toBeUndefined();
    for (const text of ["32", "-1", "2.5", "two"])
      expect(storedOf(known("channels"), text, style)).toBeNull();
    expect(enteredOf(known("channels"), undefined, style)).toBe("");
    expect(enteredOf(known("channels"), "4", style)).toBe("4");
  });
});

describe("other attributes", () => {
  const attributes = { channels: 2, plate: "AB-1", seats: 5, long: "007", tags: ["a"], on: false };

  test("come back as they were", () => {
    expect(withOthers(attributes, otherAttributes(attributes))).toEqual(attributes);
  });

  test("keep their type, and new ones get theirs from what is written", () => {
    const others = [
      { name: "plate", text: "12", was: "AB-1" },
      { name: "seats", text: "6", was: 5 },
      { name: " card ", text: "00012", was: undefined },
      { name: "open", text: "true", was: undefined },
      { name: "", text: "lost", was: undefined },
      { name: "channels", text: "9", was: undefined },
    ];
    expect(withOthers(attributes, others)).toEqual({
      channels: 2,
      plate: "12",
      seats: 6,
      card: "00012",
      open: true,
    });
  });
});

test("times are those of the zone", () => {
  expect(localTime("2026-07-01T22:30:00Z", "Europe/Berlin")).toBe("2026-07-02T00:30");
  expect(instantOfLocal("2026-07-02T00:30", "Europe/Berlin")).toBe("2026-07-01T22:30:00.000Z");
  expect(localTime(null, "UTC")).toBe("");
  expect(instantOfLocal("", "UTC")).toBeNull();
});

import { expect, test } from "vitest";
import { positionOf, zoneOf } from "../../testing/records";
import { placeText } from "./place";

const zones = new Map(
  [
    zoneOf(1, { name: "Berlin", area: "CIRCLE (52.5 13.4, 20000)" }),
    zoneOf(2, { name: "Yard", area: "CIRCLE (52.5 13.4, 50)" }),
    zoneOf(3, { name: "Broken", area: "nowhere" }),
  ].map((each) => [each.id, each]),
);
const names = new Set([...zones.values()].map(({ name }) => name));
const place = (fields: object, said: string | null = null) =>
  placeText(positionOf(1, fields), said, zones, names);

test("the smallest zone comes first, then the address, then what the server said", () => {
  expect(place({ geofenceIds: [3, 1, 2], address: "Am Hof 1" }, "Potsdam")).toBe("Yard");
  expect(place({ geofenceIds: [9], address: "Am Hof 1" }, "Potsdam")).toBe("Am Hof 1");
  expect(place({}, "Potsdam, 3 km NE")).toBe("Potsdam, 3 km NE");
  expect(place({})).toBeNull();
});

test("a zone that was left, and a position without a fix, are no place", () => {
  expect(place({}, "Yard")).toBeNull();
  expect(place({ latitude: 0, longitude: 0 }, "Potsdam")).toBeNull();
  expect(placeText(undefined, "Potsdam", zones, names)).toBeNull();
});

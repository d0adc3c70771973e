import { expect, test } from "vitest";
import type { Geofence } from "../api/types";
import { drawable, halfWidthOf, zonesAt } from "./zoneShapes";

const zone = (id: number, area: string, attributes: Record<string, unknown> = {}): Geofence => ({
  id,
  name: `Zone ${id}`,
  description: null,
  area,
  calendarId: 0,
  attributes,
});

test("zones that are hidden or have no area that can be read are not drawn", () => {
  const records = [
    zone(1, "CIRCLE (52 13, 100)", { color: "#123456" }),
    zone(2, "CIRCLE (52 13, 100)", { hide: true }),
    zone(3, "EVERYWHERE"),
    zone(4, "LINESTRING (52 13, 52 14)", { polylineDistance: 300, color: 7 }),
  ];
  expect(drawable(records).map(({ id, color, halfWidth }) => [id, color, halfWidth])).toEqual([
    [1, "#123456", 25],
    [4, "", 300],
  ]);
});

test("a corridor without a width has that of the server", () => {
  expect(halfWidthOf({ attributes: {} })).toBe(25);
  expect(halfWidthOf({ attributes: { polylineDistance: "40" } })).toBe(25);
  expect(halfWidthOf({ attributes: { polylineDistance: 0 } })).toBe(0);
});

test("the zones at a place are those that hold it", () => {
  const zones = drawable([
    zone(1, "CIRCLE (52 13, 100)"),
    zone(2, "POLYGON ((51 12, 53 12, 53 14, 51 14))"),
    zone(3, "LINESTRING (52 12, 52 12.5)"),
  ]);
  expect(zonesAt(zones, [52, 13]).map(({ id }) => id)).toEqual([1, 2]);
  expect(zonesAt(zones, [52, 12.2]).map(({ id }) => id)).toEqual([3, 2]);
});

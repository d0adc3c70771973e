import { expect, test } from "vitest";
import { Marks } from "./marks";
import type { Vehicle } from "./vehicles";

const WORLD = { west: 0, east: 1, north: 0, south: 1 };

function vehicle(id: number, longitude: number, latitude: number): Vehicle {
  return { id, name: `Van ${id}`, status: "online", longitude, latitude, course: 90, old: false };
}

function marksOf(...vehicles: Vehicle[]): Marks {
  const marks = new Marks();
  marks.set(vehicles);
  return marks;
}

test("one vehicle is an icon where it is, several are a number", () => {
  const marks = marksOf(vehicle(1, 13.4, 52.5), vehicle(2, -70, -30), vehicle(3, -70.01, -30));
  const [alone, both] = marks.features(WORLD, 3, "en");
  expect(alone?.geometry).toEqual({ type: "Point", coordinates: [13.4, 52.5] });
  expect(alone?.properties).toMatchObject({ id: 1, icon: "online", course: 0 });
  expect(both?.properties).toMatchObject({ label: "2" });
});

test("vehicles have their names where there are few marks, or from near", () => {
  const many = Array.from({ length: 60 }, (_, index) =>
    vehicle(index, index * 6 - 180, (index % 7) * 20 - 60),
  );
  const names = (marks: Marks, zoom: number) =>
    marks.features(WORLD, zoom, "en").filter(({ properties }) => properties?.name).length;
  expect(names(marksOf(...many.slice(0, 30)), 4)).toBe(30);
  expect(names(marksOf(...many), 4)).toBe(0);
  expect(names(marksOf(...many), 12)).toBe(60);
});

test("the vehicles of the nearest mark are found within the slack", () => {
  const marks = marksOf(vehicle(1, 10, 0), vehicle(2, 40, 0), vehicle(3, 40, 0));
  marks.features(WORLD, 3, "en");
  // One degree is a pixel here.
  const from = (x: number) => (longitude: number, latitude: number) => Math.hypot(longitude - x, latitude);
  expect(marks.under(from(26), 6).map(({ id }) => id)).toEqual([2, 3]);
  expect(marks.under(from(22), 6).map(({ id }) => id)).toEqual([1]);
  expect(marks.under(from(-10), 6)).toEqual([]);
});

test("what was set anew is drawn anew", () => {
  const marks = marksOf(vehicle(1, 10, 0));
  marks.features(WORLD, 3, "en");
  expect(marks.isDrawnAt(3.9)).toBe(true);
  expect(marks.isDrawnAt(4)).toBe(false);
  marks.set([vehicle(1, 20, 0)]);
  expect(marks.isDrawnAt(3)).toBe(false);
  expect(marks.features(WORLD, 3, "en")[0]?.geometry).toEqual({ type: "Point", coordinates: [20, 0] });
});

import { expect, test } from "vitest";
import { measure, plane, unwrap } from "./rings";

test("a ring within the map stays as it is", () => {
  const ring = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 0],
  ];
  expect(unwrap(ring)).toEqual(ring);
});

test("a ring across the antimeridian goes on beyond it", () => {
  const ring = [
    [170, 60],
    [-170, 60],
    [-170, 70],
    [170, 70],
    [170, 60],
  ];
  const unwrapped = unwrap(ring);
  expect(unwrapped.map(([longitude]) => longitude)).toEqual([170, 190, 190, 170, 170]);
  expect(measure(unwrapped)).toEqual({ area: 200, longitude: -180, latitude: 65 });
});

test("a ring around a pole is closed along the edge", () => {
  const unwrapped = unwrap([
    [0, -70],
    [120, -70],
    [-120, -70],
    [0, -70],
  ]);
  expect(unwrapped).toEqual([
    [0, -70],
    [120, -70],
    [240, -70],
    [360, -70],
    [360, -90],
    [0, -90],
    [0, -70],
  ]);
  expect(measure(unwrapped).area).toBeCloseTo(7200);
});

test("the edge of the map at a pole is not crossed", () => {
  const ring = [
    [-180, -89.999],
    [178, -89.999],
    [178, -80],
    [-180, -80],
    [-180, -89.999],
  ];
  expect(unwrap(ring.slice(0, 3))).toEqual(ring.slice(0, 3));
});

test("a ring without an area is where it begins", () => {
  expect(measure([[5, 6]])).toEqual({ area: 0, longitude: 5, latitude: 6 });
});

test("a line along a pole is left out of a polygon", () => {
  const line = [
    [-180, -89.999],
    [178, -89.999],
    [-180, -89.999],
  ];
  const coast = [
    [0, -70],
    [120, -70],
    [-120, -70],
    [0, -70],
  ];
  expect(plane([line, coast])).toEqual([unwrap(coast)]);
});

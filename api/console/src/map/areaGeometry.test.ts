import { describe, expect, test } from "vitest";
import type { Shape } from "./area";
import {
  boundsOf,
  circleRing,
  container,
  distanceBetween,
  geometryOf,
  lengthOf,
  middleOf,
  widthAtZoom0,
} from "./areaGeometry";

const DEGREE = 111_319.49;

describe("distances", () => {
  test("follow great circles", () => {
    expect(distanceBetween([0, 0], [0, 1])).toBeCloseTo(DEGREE, 0);
    expect(distanceBetween([60, 0], [60, 1])).toBeCloseTo(55_658, -1);
    expect(distanceBetween([0, 179.5], [0, -179.5])).toBeCloseTo(DEGREE, 0);
    expect(distanceBetween([90, 0], [-90, 120])).toBeCloseTo(Math.PI * 6_378_137, 0);
  });

  test("add up along a line", () => {
    expect(
      lengthOf([
        [0, 0],
        [0, 1],
        [1, 1],
      ]),
    ).toBeCloseTo(2 * DEGREE, 0);
    expect(lengthOf([[3, 4]])).toBe(0);
  });
});

describe("what lies in a shape", () => {
  test("of a circle, by distance", () => {
    const holds = container({ kind: "circle", center: [52, 13], radius: 1000 });
    expect(holds([52, 13])).toBe(true);
    expect(holds([52.0089, 13])).toBe(true);
    expect(holds([52.0091, 13])).toBe(false);
    expect(holds([52, 13.0145])).toBe(true);
    expect(holds([52, 13.0147])).toBe(false);
  });

  test("of a polygon, by the even-odd rule", () => {
    const ring = (side: number) =>
      [
        [-side, -side],
        [-side, side],
        [side, side],
        [side, -side],
      ] as const;
    const holds = container({ kind: "polygon", rings: [ring(2), ring(1)] });
    expect(holds([1.5, 0])).toBe(true);
    expect(holds([0, 0])).toBe(false);
    expect(holds([2.1, 0])).toBe(false);
  });

  test("of a corridor, within its half width", () => {
    const shape: Shape = {
      kind: "corridor",
      line: [
        [52, 13],
        [52, 14],
        [53, 14],
      ],
    };
    const holds = container(shape, 100);
    expect(holds([52.0008, 13.5])).toBe(true);
    expect(holds([52.001, 13.5])).toBe(false);
    expect(holds([52.5, 14.0014])).toBe(true);
    expect(holds([52.5, 14.0015])).toBe(false);
    expect(holds([52, 12.9986])).toBe(true);
    expect(container(shape)([52.0003, 13.5])).toBe(false);
  });

  test("across the antimeridian", () => {
    const ring = [
      [-1, 179],
      [1, 179],
      [1, 181],
      [-1, 181],
    ] as const;
    const holds = container({ kind: "polygon", rings: [ring] });
    expect(holds([0, 179.5])).toBe(true);
    expect(holds([0, -179.5])).toBe(true);
    expect(holds([0, -178.5])).toBe(false);
    const round = container({ kind: "circle", center: [0, 179.9], radius: 50_000 });
    expect(round([0, -179.9])).toBe(true);
  });

  test("of a circle around a pole", () => {
    const holds = container({ kind: "circle", center: [90, 0], radius: 200_000 });
    expect(holds([89, -170])).toBe(true);
    expect(holds([88, 10])).toBe(false);
  });
});

describe("drawing", () => {
  test("the points of a circle lie on it", () => {
    for (const [longitude, latitude] of circleRing([65, -170], 30_000)) {
      expect(distanceBetween([65, -170], [latitude, longitude])).toBeCloseTo(30_000, 3);
    }
  });

  test("geometry has longitude first, and closed rings", () => {
    const rings = [
      [
        [1, 2],
        [3, 4],
        [5, 7],
      ],
    ] as const;
    expect(geometryOf({ kind: "polygon", rings })).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [2, 1],
          [4, 3],
          [7, 5],
          [2, 1],
        ],
      ],
    });
  });

  test("bounds hold a circle and the width of a corridor", () => {
    const [west, south, east, north] = boundsOf({ kind: "circle", center: [60, 10], radius: DEGREE });
    expect([south, north]).toEqual([expect.closeTo(59, 4), expect.closeTo(61, 4)]);
    expect([west, east]).toEqual([expect.closeTo(7.937, 2), expect.closeTo(12.063, 2)]);
    const corridor: Shape = {
      kind: "corridor",
      line: [
        [0, 0],
        [0, 1],
      ],
    };
    expect(boundsOf(corridor, DEGREE)[3]).toBeCloseTo(1, 4);
    expect(middleOf(corridor)).toEqual([0, 0.5]);
  });

  test("a width is measured at its latitude", () => {
    expect(widthAtZoom0(40_075_016.686, 0)).toBeCloseTo(512, 3);
    expect(widthAtZoom0(40_075_016.686, 60)).toBeCloseTo(1024, 3);
  });
});

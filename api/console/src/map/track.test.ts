import { describe, expect, test } from "vitest";
import { degreesOf, placeOf } from "./clusters";
import { routeLines, stepOf } from "./routeFeatures";
import { thin } from "./thin";
import { boundsOfTrack, indexAt, nearestTo, trackOf, whereabouts } from "./track";

const START = Date.parse("2026-11-21T10:00:00Z");

function fix(seconds: number, longitude: number, latitude = 0, more: object = {}) {
  const fixTime = new Date(START + seconds * 1000).toISOString();
  return {
    id: seconds,
    fixTime,
    valid: true,
    outdated: false,
    longitude,
    latitude,
    speed: 10,
    course: 90,
    attributes: {},
    ...more,
  };
}

describe("a track", () => {
  const track = trackOf([
    fix(0, 1),
    fix(5, 0, 0),
    fix(6, 5, 5, { valid: false }),
    fix(7, 5, 5, { outdated: true }),
    fix(8, 5, 5, { attributes: { implausible: true } }),
    fix(10, 2),
    fix(100, 3),
  ]);

  test("has valid places only, and counts the others", () => {
    expect([...track.id]).toEqual([0, 10, 100]);
    expect(track.skipped).toBe(4);
  });

  test.each([
    [-1, -1],
    [0, 0],
    [9.9, 0],
    [10, 1],
    [1000, 2],
  ])("at %s s the last fix is %s", (seconds, index) => {
    expect(indexAt(track, START + seconds * 1000)).toBe(index);
  });

  test("is interpolated between near fixes only", () => {
    expect(whereabouts(track, START - 1)).toBeNull();
    expect(whereabouts(track, START + 5000)?.longitude).toBeCloseTo(1.5);
    expect(whereabouts(track, START + 5000)?.stale).toBe(false);
    expect(whereabouts(track, START + 90_000)).toMatchObject({ index: 1, stale: true });
    expect(whereabouts(track, START + 90_000)?.longitude).toBeCloseTo(2);
    expect(whereabouts(track, START + 100_000)?.longitude).toBeCloseTo(3);
  });

  test("knows when the vehicle was nearest to a place", () => {
    const found = nearestTo(track, placeOf(1.25, 0.1));
    expect(found?.at).toBeCloseTo(START + 2500, -1);
    // On a way that is not known it is the nearer of both ends.
    expect(nearestTo(track, placeOf(2.9, 0))?.at).toBe(START + 100_000);
    expect(nearestTo(trackOf([]), placeOf(0, 0))).toBeNull();
  });

  test("has bounds", () => {
    const bounds = boundsOfTrack(track)?.map((each) => Math.round(each * 1e6) / 1e6);
    expect(bounds).toEqual([1, 0, 3, 0]);
    expect(boundsOfTrack(trackOf([]))).toBeNull();
  });

  test("goes the shorter way over the antimeridian", () => {
    const over = trackOf([fix(0, 179.9), fix(10, -179.9)]);
    expect(whereabouts(over, START + 5000)?.longitude).toBeCloseTo(-180, 5);
    const [west = 0, , east = 0] = boundsOfTrack(over) ?? [];
    expect(east - west).toBeCloseTo(0.2);
  });
});

/** Of 12 km/h in knots. */
const WIDTH = 12 / 1.852;

describe("lines", () => {
  test("are of one color each, and gaps are lines of their own", () => {
    const slow = { speed: 5 };
    const fast = { speed: 30 };
    const track = trackOf([
      fix(0, 0.1, 0, slow),
      fix(5, 1, 0, slow),
      fix(10, 2, 0, fast),
      fix(15, 3, 0, fast),
      fix(60, 4, 0, fast),
    ]);
    const { colored, way } = routeLines(track, [0, 1, 2, 3, 4], WIDTH);
    expect(colored.features.map(({ properties }) => properties)).toEqual([
      { step: stepOf(5, WIDTH), gap: false },
      { step: stepOf(17.5, WIDTH), gap: false },
      { step: stepOf(30, WIDTH), gap: false },
      { step: stepOf(30, WIDTH), gap: true },
    ]);
    expect(way.features).toHaveLength(1);
  });

  test.each([
    [0, 0],
    [6.4, 0],
    [6.5, 1],
    [1000, 9],
    [-1, 0],
    [5 * WIDTH, 5],
  ])("%s knots have the color %s", (knots, step) => expect(stepOf(knots, WIDTH)).toBe(step));
});

describe("thinning", () => {
  const count = 50_000;
  const positions = Array.from({ length: count }, (_, index) =>
    fix(index, 10 + index / 10_000, 50 + Math.sin(index / 500) / 10),
  );
  const track = trackOf(positions);
  const world = { west: 0, east: 1, north: 0, south: 1 };

  test("leaves both ends, and few of what looks the same", () => {
    const kept = thin(track, 5, world);
    expect(kept[0]).toBe(0);
    expect(kept.at(-1)).toBe(count - 1);
    expect(kept.length).toBeLessThan(2000);
    for (let index = 1; index < kept.length - 1; index += 1) {
      const [here = 0, before = 0] = [kept[index], kept[index - 1]];
      const apart = Math.hypot(
        (track.x[here] ?? 0) - (track.x[before] ?? 0),
        (track.y[here] ?? 0) - (track.y[before] ?? 0),
      );
      expect(apart * 512 * 2 ** 5).toBeGreaterThanOrEqual(1.5);
    }
  });

  test("is bounded, whatever the zoom", () => {
    expect(thin(track, 20, world, 5000).length).toBeLessThanOrEqual(5000);
  });

  test("leaves out what is not seen", () => {
    const { x: west, y: north } = placeOf(12, 50.2);
    const { x: east, y: south } = placeOf(12.1, 49.8);
    const kept = thin(track, 18, { west, east, north, south });
    const longitudes = kept.map((index) => degreesOf({ x: track.x[index] ?? 0, y: 0.5 })[0]);
    expect(Math.min(...longitudes)).toBeGreaterThan(11.9);
    expect(Math.max(...longitudes)).toBeLessThan(12.2);
    expect(kept.length).toBeGreaterThan(1000);
  });

  test("keeps the ends of gaps", () => {
    const parked = trackOf([fix(0, 10), fix(1, 10), fix(2, 10), fix(100, 10), fix(101, 10), fix(102, 10)]);
    expect(thin(parked, 5, world)).toEqual([0, 3, 5]);
  });
});

import { describe, expect, test } from "vitest";
import { cluster, degreesOf, type Place, placeOf, WORLD_PX, widened, within } from "./clusters";

/** Random numbers from 0 to 1 that are the same in each run (mulberry32). */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Vehicles of cities of different size, some of them parked at one place. */
function fleet(count: number, seed: number): Place[] {
  const random = randoms(seed);
  const cities = Array.from({ length: 12 }, () => ({ x: random(), y: 0.2 + random() * 0.6 }));
  return Array.from({ length: count }, () => {
    const city = cities[Math.floor(random() * cities.length)] ?? { x: 0.5, y: 0.5 };
    const spread = random() < 0.1 ? 0 : 10 ** (-2 - 4 * random());
    return { x: city.x + (random() - 0.5) * spread, y: city.y + (random() - 0.5) * spread };
  });
}

const CASES = [1, 2, 3, 4, 5, 6].flatMap((seed) =>
  [0, 3.9, 7, 11.5, 12, 15.2, 20].map((zoom) => [seed, zoom]),
);

describe.each(CASES)("fleet %i at zoom %f", (seed = 1, zoom = 0) => {
  const places = fleet(300, seed);
  const marks = cluster(places, zoom);
  const size = WORLD_PX * 2 ** Math.floor(zoom);

  test("each vehicle is in one mark", () => {
    const members = marks.flatMap((mark) => mark.members).sort((one, other) => one - other);
    expect(members).toEqual(places.map((_, index) => index));
  });

  test("no two marks overlap by more than a fifth", () => {
    const overlapping = marks.flatMap((one, index) =>
      marks.slice(index + 1).filter((other) => {
        const distance = Math.hypot(one.x - other.x, one.y - other.y) * size;
        return distance < (one.radius + other.radius) * 0.8 - 1e-6;
      }),
    );
    expect(overlapping).toEqual([]);
  });

  test("a vehicle alone is drawn where it is", () => {
    for (const { members, x, y } of marks) {
      if (members.length === 1) expect({ x, y }).toEqual(places[members[0] ?? -1]);
    }
  });

  test("the marks do not depend on the order of the vehicles", () => {
    const place = ({ x, y, members }: (typeof marks)[number]) =>
      `${x.toFixed(9)} ${y.toFixed(9)} ${members.length}`;
    const backwards = cluster([...places].reverse(), zoom);
    expect(backwards.map(place).sort()).toEqual(marks.map(place).sort());
  });
});

test("the same within a whole zoom, fewer marks farther away", () => {
  const places = fleet(500, 9);
  expect(cluster(places, 5.01)).toEqual(cluster(places, 5.99));
  const counts = [2, 5, 8, 11, 14, 17].map((zoom) => cluster(places, zoom).length);
  expect(counts).toEqual([...counts].sort((one, other) => one - other));
});

test("from zoom 12 on vehicles that do not overlap are drawn apart", () => {
  const step = 25 / (WORLD_PX * 2 ** 13);
  const row = Array.from({ length: 20 }, (_, index) => ({ x: 0.5 + index * step, y: 0.5 }));
  expect(cluster(row, 13)).toHaveLength(20);
  expect(cluster(row, 11).length).toBeLessThan(10);
});

test("what is in the box, across the antimeridian as well", () => {
  const marks = cluster(
    [
      { x: 0.01, y: 0.5 },
      { x: 0.99, y: 0.5 },
      { x: 0.5, y: 0.5 },
    ],
    3,
  );
  const west = within(marks, { west: -0.05, east: 0.05, north: 0.4, south: 0.6 });
  expect(west.map(({ x }) => x).sort()).toEqual([0.01, 0.99]);
  expect(within(marks, { west: 0.95, east: 1.05, north: 0.4, south: 0.6 })).toHaveLength(2);
  expect(within(marks, { west: 0, east: 1, north: 0.6, south: 0.7 })).toHaveLength(0);
});

test("a box is widened by a quarter on each side", () => {
  const box = widened({ west: 0, east: 0.4, north: 0.2, south: 0.6 });
  const rounded = Object.values(box).map((value) => value.toFixed(6));
  expect(rounded).toEqual(["-0.100000", "0.100000", "0.500000", "0.700000"]);
});

test("degrees to places and back", () => {
  expect(placeOf(0, 0)).toEqual({ x: 0.5, y: 0.5 });
  expect(placeOf(180, 0).x).toBe(1);
  for (const [longitude, latitude] of [
    [13.4, 52.5],
    [-58.4, -34.6],
    [179.9, 84],
  ] as const) {
    const [x, y] = degreesOf(placeOf(longitude, latitude));
    expect(x).toBeCloseTo(longitude, 9);
    expect(y).toBeCloseTo(latitude, 9);
  }
});

/** A closed line of longitudes and latitudes in degrees. */
export type Ring = readonly (readonly number[])[];

/**
 * Returns a ring whose neighboring points are less than 180 degrees apart, so that its longitudes may lie beyond
 * ±180. A ring around a pole, such as the coast of Antarctica, is closed along the edge of the map.
 *
 * The outlines of world-atlas cross the antimeridian by a jump from 180 to -180.
 */
export function unwrap(ring: Ring): [number, number][] {
  const found: [number, number][] = [];
  let turn = 0;
  for (const [index, [longitude = 0, latitude = 0]] of ring.entries()) {
    const [before = longitude] = ring[index - 1] ?? [];
    const step = longitude - before;
    // At a pole a long step is the edge of the map itself.
    if (Math.abs(step) > 180 && Math.abs(latitude) < 89.9) turn -= 360 * Math.sign(step);
    found.push([longitude + turn, latitude]);
  }
  const first = found[0];
  const last = found.at(-1);
  if (turn === 0 || !first || !last) return found;
  const pole = last[1] < 0 ? -90 : 90;
  return [...found, [last[0], pole], [first[0], pole], first];
}

/** Returns area and centroid of an unwrapped ring, on the plane of degrees; the longitude is within ±180. */
export function measure(ring: Ring): { area: number; longitude: number; latitude: number } {
  let [area, sumX, sumY] = [0, 0, 0];
  for (const [index, [x = 0, y = 0]] of ring.entries()) {
    const [nextX = x, nextY = y] = ring[index + 1] ?? [];
    const cross = x * nextY - nextX * y;
    area += cross / 2;
    sumX += (x + nextX) * cross;
    sumY += (y + nextY) * cross;
  }
  if (area === 0) return { area: 0, longitude: ring[0]?.[0] ?? 0, latitude: ring[0]?.[1] ?? 0 };
  const longitude = sumX / (6 * area);
  return {
    area: Math.abs(area),
    longitude: longitude - 360 * Math.round(longitude / 360),
    latitude: sumY / (6 * area),
  };
}

/** Returns the rings of a polygon, unwrapped, without those that enclose nothing, such as a line along a pole. */
export function plane(polygon: readonly Ring[]): [number, number][][] {
  return polygon.map(unwrap).filter((ring) => measure(ring).area > 1e-6);
}

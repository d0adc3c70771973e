/** What lies in an area, and how it is drawn: the rules of docs/geofences.md, on the same sphere. */

import type { Place, Shape } from "./area";

/** Meters. */
const EARTH_RADIUS = 6_378_137;
const CIRCLE_POINTS = 64;
/** Half the width of a corridor that does not say it, in meters. */
export const HALF_WIDTH = 25;
/** Pixels of the world at zoom 0. */
const WORLD_PX = 512;

type Coordinates = [longitude: number, latitude: number];

/** Meters between two places, along a great circle. */
export function distanceBetween([latitude, longitude]: Place, [toLatitude, toLongitude]: Place): number {
  const half = (degrees: number) => Math.sin(radians(degrees) / 2) ** 2;
  const cosines = Math.cos(radians(latitude)) * Math.cos(radians(toLatitude));
  const chord = half(toLatitude - latitude) + cosines * half(toLongitude - longitude);
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** Meters along a line. */
export function lengthOf(line: readonly Place[]): number {
  return line.slice(1).reduce((sum, place, index) => sum + distanceBetween(line[index] ?? place, place), 0);
}

/** A test of places; `halfWidth` is the half width of a corridor in meters. */
export function container(shape: Shape, halfWidth = HALF_WIDTH): (place: Place) => boolean {
  const [west, south, east, north] = boundsOf(shape, halfWidth);
  const holds = holder(shape, halfWidth);
  return ([latitude, longitude]) => {
    if (latitude < south || latitude > north) return false;
    // Areas across the antimeridian have longitudes beyond 180 degrees.
    for (const turn of [-360, 0, 360]) {
      const turned = longitude + turn;
      if (turned >= west && turned <= east && holds([latitude, turned])) return true;
    }
    return false;
  };
}

function holder(shape: Shape, halfWidth: number): (place: Place) => boolean {
  if (shape.kind === "circle") return (place) => distanceBetween(shape.center, place) <= shape.radius;
  if (shape.kind === "polygon") return (place) => isInRings(shape.rings, place);
  return ([latitude, longitude]) => {
    // Within the width of a corridor the earth is flat.
    const across = Math.cos(radians(latitude));
    const flat = ([lat, lon]: Place) => [(lon - longitude) * across, lat - latitude] as const;
    const points = shape.line.map(flat);
    return points.slice(1).some((to, index) => {
      const from = points[index] ?? to;
      return radians(1) * EARTH_RADIUS * distanceToOrigin(from, to) <= halfWidth;
    });
  };
}

function isInRings(rings: readonly (readonly Place[])[], [latitude, longitude]: Place): boolean {
  let inside = false;
  for (const ring of rings) {
    let [lastLatitude, lastLongitude] = ring.at(-1) ?? [0, 0];
    for (const [lat, lon] of ring) {
      if (lat > latitude !== lastLatitude > latitude) {
        const crossing = lon + ((latitude - lat) / (lastLatitude - lat)) * (lastLongitude - lon);
        if (longitude < crossing) inside = !inside;
      }
      [lastLatitude, lastLongitude] = [lat, lon];
    }
  }
  return inside;
}

function distanceToOrigin([x, y]: readonly [number, number], [toX, toY]: readonly [number, number]): number {
  const [dx, dy] = [toX - x, toY - y];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.max(0, Math.min(1, -(x * dx + y * dy) / length));
  return Math.hypot(x + part * dx, y + part * dy);
}

/** West, south, east and north of a shape in degrees, with the width of a corridor. */
export function boundsOf(shape: Shape, halfWidth = HALF_WIDTH): [number, number, number, number] {
  const places =
    shape.kind === "circle" ? [shape.center] : shape.kind === "corridor" ? shape.line : shape.rings.flat();
  let [west, south, east, north] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (const [latitude, longitude] of places) {
    [west, east] = [Math.min(west, longitude), Math.max(east, longitude)];
    [south, north] = [Math.min(south, latitude), Math.max(north, latitude)];
  }
  const meters = shape.kind === "circle" ? shape.radius : shape.kind === "corridor" ? halfWidth : 0;
  const margin = degrees(meters / EARTH_RADIUS);
  const farthest = Math.max(Math.abs(south - margin), Math.abs(north + margin));
  const across = farthest < 90 ? Math.min(360, margin / Math.cos(radians(farthest))) : 360;
  return [west - across, Math.max(-90, south - margin), east + across, Math.min(90, north + margin)];
}

/** The shape as a map draws it: a corridor is its line, which is drawn as wide as `widthAtZoom0` says. */
export function geometryOf(shape: Shape): GeoJSON.Geometry {
  switch (shape.kind) {
    case "circle":
      return { type: "Polygon", coordinates: [closed(circleRing(shape.center, shape.radius))] };
    case "corridor":
      return { type: "LineString", coordinates: shape.line.map(coordinatesOf) };
    case "polygon":
      // Each ring is drawn by the even-odd rule, as the server reads them, only if holes lie in the outer one.
      return { type: "Polygon", coordinates: shape.rings.map((ring) => closed(ring.map(coordinatesOf))) };
  }
}

/** Points of a circle around a place, as a map has them. */
export function circleRing(center: Place, radius: number): Coordinates[] {
  const [latitude, longitude] = [radians(center[0]), radians(center[1])];
  const angle = radius / EARTH_RADIUS;
  return Array.from({ length: CIRCLE_POINTS }, (_, index) => {
    const bearing = (2 * Math.PI * index) / CIRCLE_POINTS;
    const sine =
      Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(bearing);
    const lat = Math.asin(Math.max(-1, Math.min(1, sine)));
    const east = Math.sin(bearing) * Math.sin(angle) * Math.cos(latitude);
    const lon = longitude + Math.atan2(east, Math.cos(angle) - Math.sin(latitude) * Math.sin(lat));
    return [degrees(lon), degrees(lat)];
  });
}

/** Pixels at zoom 0 that a length has at a latitude; they double with each zoom. */
export function widthAtZoom0(meters: number, latitude: number): number {
  const around = 2 * Math.PI * EARTH_RADIUS * Math.cos(radians(Math.min(85, Math.abs(latitude))));
  return (WORLD_PX * meters) / around;
}

/** A place as maps write it. */
export function coordinatesOf([latitude, longitude]: Place): Coordinates {
  return [longitude, latitude];
}

/** The middle of a shape's bounds. */
export function middleOf(shape: Shape): Place {
  const [west, south, east, north] = boundsOf(shape, 0);
  return [(south + north) / 2, (west + east) / 2];
}

function closed(ring: Coordinates[]): Coordinates[] {
  return [...ring, ...ring.slice(0, 1)];
}

function radians(angle: number): number {
  return (angle * Math.PI) / 180;
}

function degrees(angle: number): number {
  return (angle * 180) / Math.PI;
}

/** The fixes of a vehicle as columns, for tens of thousands of them. Pure. */

import type { Position } from "../api/types";
import { degreesOf, type Place, placeOf } from "./clusters";

/** Fixes in the order of their times; the columns have the same length. */
export interface Track {
  /** Ids of the positions. */
  id: Float64Array;
  /** Milliseconds since 1970. */
  at: Float64Array;
  /** Web Mercator, as in `Place`; beyond 0 and 1 where the track crosses the antimeridian. */
  x: Float64Array;
  y: Float64Array;
  /** Knots. */
  speed: Float32Array;
  /** Degrees from north, clockwise. */
  course: Float32Array;
  /** Positions of the span that have no valid place of their own. */
  skipped: number;
}

/** Where the vehicle was at an instant. */
export interface Whereabouts extends Place {
  /** The fix at or before the instant. */
  index: number;
  longitude: number;
  latitude: number;
  /** Knots. */
  speed: number;
  course: number;
  /** Whether there is no fix near enough to know the place: it is that of the last one. */
  stale: boolean;
}

/** Between fixes that are further apart nobody knows the way. */
export const GAP_MS = 30_000;
/** A vehicle moves from this speed in knots on. */
const MOVING_KNOTS = 0.01;

type Fix = Pick<
  Position,
  "id" | "fixTime" | "valid" | "outdated" | "longitude" | "latitude" | "speed" | "course" | "attributes"
>;

/** The track of positions that are ordered by their fix times. */
export function trackOf(positions: readonly Fix[]): Track {
  const kept = positions.filter(isFix);
  const column = () => new Float64Array(kept.length);
  const track: Track = {
    id: column(),
    at: column(),
    x: column(),
    y: column(),
    speed: new Float32Array(kept.length),
    course: new Float32Array(kept.length),
    skipped: positions.length - kept.length,
  };
  let before = 0.5;
  for (const [index, each] of kept.entries()) {
    const { x, y } = placeOf(each.longitude, each.latitude);
    // The shorter way around the world.
    before = x + (index > 0 ? Math.round(before - x) : 0);
    track.id[index] = each.id;
    track.at[index] = Date.parse(each.fixTime);
    track.x[index] = before;
    track.y[index] = y;
    track.speed[index] = each.speed;
    track.course[index] = each.course;
  }
  return track;
}

function isFix({ valid, outdated, longitude, latitude, attributes }: Fix): boolean {
  return valid && !outdated && !attributes.implausible && (longitude !== 0 || latitude !== 0);
}

/** The index of the last fix at or before an instant; -1 before the first. */
export function indexAt({ at }: Track, instant: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) <= instant) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where the vehicle was: between fixes at most 30 s apart on the line between them, else at the last one. */
export function whereabouts(track: Track, instant: number): Whereabouts | null {
  const index = indexAt(track, instant);
  if (index < 0) return null;
  const [here, next] = [fixOf(track, index), fixOf(track, index + 1)];
  const near = next.at - here.at <= GAP_MS;
  const part = near && next.at > here.at ? (instant - here.at) / (next.at - here.at) : 0;
  const x = here.x + part * (near ? next.x - here.x : 0);
  const y = here.y + part * (near ? next.y - here.y : 0);
  const [longitude, latitude] = degreesOf({ x: x - Math.floor(x), y });
  return {
    index,
    x,
    y,
    longitude,
    latitude,
    speed: here.speed + part * (near ? next.speed - here.speed : 0),
    course: here.course,
    stale: !near && instant - here.at > GAP_MS && here.speed > MOVING_KNOTS,
  };
}

/** A fix of the track; its columns as numbers, infinite times beyond the last. */
export function fixOf(track: Track, index: number): Place & { at: number; speed: number; course: number } {
  return {
    at: track.at[index] ?? Number.POSITIVE_INFINITY,
    x: track.x[index] ?? 0,
    y: track.y[index] ?? 0,
    speed: track.speed[index] ?? 0,
    course: track.course[index] ?? 0,
  };
}

/** West, south, east and north in degrees; null without fixes. */
export function boundsOfTrack(track: Track): [number, number, number, number] | null {
  if (track.at.length === 0) return null;
  let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < track.at.length; index += 1) {
    const [x, y] = [track.x[index] ?? 0, track.y[index] ?? 0];
    west = Math.min(west, x);
    east = Math.max(east, x);
    north = Math.min(north, y);
    south = Math.max(south, y);
  }
  const [left, bottom] = degreesOf({ x: west, y: south });
  const [right, top] = degreesOf({ x: east, y: north });
  return [left, bottom, right, top];
}

/**
 * The instant at which the vehicle was nearest to a place, and how far from it, in parts of the world's width.
 * Between fixes more than 30 s apart it is the time of the nearer one.
 */
export function nearestTo(track: Track, place: Place): { at: number; distance: number } | null {
  let [best, found] = [Infinity, 0];
  for (let index = 0; index < track.at.length; index += 1) {
    const [here, next] = [fixOf(track, index), fixOf(track, index + 1)];
    const turn = Math.round(here.x - place.x);
    const [px, py] = [place.x + turn - here.x, place.y - here.y];
    const linked = index + 1 < track.at.length;
    const [dx, dy] = linked ? [next.x - here.x, next.y - here.y] : [0, 0];
    const length = dx * dx + dy * dy;
    const part = length > 0 ? Math.max(0, Math.min(1, (px * dx + py * dy) / length)) : 0;
    const distance = Math.hypot(px - part * dx, py - part * dy);
    if (distance >= best) continue;
    best = distance;
    const near = next.at - here.at <= GAP_MS;
    found = part === 0 ? here.at : here.at + (near ? part : Math.round(part)) * (next.at - here.at);
  }
  return track.at.length > 0 ? { at: found, distance: best } : null;
}

/** Which fixes of a long track are drawn at a zoom. Pure. */

import { type Box, WORLD_PX } from "./clusters";
import { GAP_MS, type Track } from "./track";

/** Tracks with more fixes are thinned. */
export const MOST_FIXES = 20_000;
/** Fixes nearer to each other than this look like one. */
const APART_PX = 1.5;

/**
 * Indexes of fixes that are at least 1.5 pixels apart, in the box and a quarter of it around; of those outside only
 * the ones that links across its edge need. Ends of gaps stay. Where more than `most` would remain, the distance is
 * doubled until they do not.
 */
export function thin(track: Track, zoom: number, box: Box, most = MOST_FIXES): number[] {
  const [width, height] = [(box.east - box.west) / 4, (box.south - box.north) / 4];
  const around: Box = {
    west: box.west - width,
    east: box.east + width,
    north: box.north - height,
    south: box.south + height,
  };
  const seen = inside(track, around);
  let apart = APART_PX / (WORLD_PX * 2 ** zoom);
  for (;;) {
    const kept = apartBy(track, seen, apart);
    if (kept.length <= most) return kept;
    apart *= 2;
  }
}

/** Whether each fix, or one beside it, lies in the box or a whole turn from it. */
function inside({ x, y, at }: Track, { west, north, east, south }: Box): Uint8Array {
  const seen = new Uint8Array(at.length);
  for (let index = 0; index < at.length; index += 1) {
    const [fx, fy] = [x[index] ?? 0, y[index] ?? 0];
    const turned = fx + Math.ceil(west - fx);
    if (turned > east || fy < north || fy > south) continue;
    for (const each of [index - 1, index, index + 1]) if (each >= 0 && each < at.length) seen[each] = 1;
  }
  return seen;
}

function apartBy({ x, y, at }: Track, seen: Uint8Array, apart: number): number[] {
  const kept: number[] = [];
  let last = -1;
  for (let index = 0; index < at.length; index += 1) {
    if (!seen[index]) continue;
    const begins = index === 0 || !seen[index - 1];
    const ends = index === at.length - 1 || !seen[index + 1];
    const gap = (at[index] ?? 0) - (at[index - 1] ?? -Infinity) > GAP_MS;
    const far =
      last < 0 || Math.hypot((x[index] ?? 0) - (x[last] ?? 0), (y[index] ?? 0) - (y[last] ?? 0)) >= apart;
    if (!begins && !ends && !far && !gap) continue;
    kept.push(index);
    last = index;
  }
  return kept;
}

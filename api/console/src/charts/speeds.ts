/** The speeds of a track as a line. Pure. */

import { fixOf, type Track } from "../map/track";
import type { Series } from "./series";

/** Over a longer silence the line is interrupted, unless the vehicle stood at both ends. */
const SILENCE_MS = 600_000;

/** `unit` turns knots into what the reader sees. */
export function speedSeries(track: Track, unit: (knots: number) => number): Series {
  const at: number[] = [];
  const values: (number | null)[] = [];
  for (let index = 0; index < track.at.length; index += 1) {
    const here = fixOf(track, index);
    const before = fixOf(track, index - 1);
    if (index > 0 && here.at - before.at > SILENCE_MS && (here.speed > 0 || before.speed > 0)) {
      at.push((before.at + 1) / 1000);
      values.push(null);
    }
    at.push(here.at / 1000);
    values.push(unit(here.speed));
  }
  return { at, values };
}

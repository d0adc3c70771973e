/** A track as lines of the map: colored by speed, dashed where the way is not known. Pure. */

import { degreesOf } from "./clusters";
import { fixOf, GAP_MS, type Track } from "./track";
import { collection } from "./world";

/** Number of colors. */
export const STEPS = 10;

/** The color of a speed in knots, 0 to 9, of which each has `width` knots; the last one has all above. */
export function stepOf(knots: number, width: number): number {
  // Speeds that were whole in another unit are not, in knots.
  return Math.max(0, Math.min(STEPS - 1, Math.floor(knots / width + 1e-9)));
}

export interface RouteLines {
  /** Lines of one color each: `step`, and `gap` where fixes are more than 30 s apart. */
  colored: GeoJSON.FeatureCollection;
  /** The whole way between gaps, in its direction. */
  way: GeoJSON.FeatureCollection;
}

/** The lines through the given fixes of a track; `width` is of `stepOf`. */
export function routeLines(track: Track, indexes: readonly number[], width: number): RouteLines {
  const colored: GeoJSON.Feature[] = [];
  const way: GeoJSON.Feature[] = [];
  let run: [number, number][] = [];
  let line: [number, number][] = [];
  let [step, isGap] = [-1, false];
  const endLine = () => {
    if (line.length > 1) colored.push(lineOf(line, { step, gap: isGap }));
  };
  const endRun = () => {
    if (run.length > 1) way.push(lineOf(run, {}));
  };
  for (const [order, index] of indexes.entries()) {
    const here = placeAt(track, index);
    const previous = indexes[order - 1];
    if (previous === undefined) {
      run = [here];
      continue;
    }
    const [from, to] = [fixOf(track, previous), fixOf(track, index)];
    // Thinned fixes are far apart in time, but those between them were not.
    const gap = to.at - fixOf(track, index - 1).at > GAP_MS;
    const next = stepOf((from.speed + to.speed) / 2, width);
    if (next !== step || gap !== isGap || line.length === 0) {
      endLine();
      line = [placeAt(track, previous)];
      [step, isGap] = [next, gap];
    }
    line.push(here);
    if (gap) {
      endRun();
      run = [here];
    } else run.push(here);
  }
  endLine();
  endRun();
  return { colored: collection(colored), way: collection(way) };
}

function placeAt(track: Track, index: number): [number, number] {
  const { x, y } = fixOf(track, index);
  return degreesOf({ x, y });
}

function lineOf(coordinates: [number, number][], properties: GeoJSON.GeoJsonProperties): GeoJSON.Feature {
  return { type: "Feature", properties, geometry: { type: "LineString", coordinates } };
}

/** Stops of a route as marks of the map. Pure. */

import { cluster, degreesOf, placeOf } from "./clusters";
import { point } from "./world";

/** A stop of the route; `label` stands beside it. */
export interface RouteStop {
  number: number;
  longitude: number;
  latitude: number;
  label: string;
}

/** Marks for a whole zoom. Stops that would cover each other are one, named by the first, as in `3+`. */
export function stopMarks(
  stops: readonly RouteStop[],
  zoom: number,
  several: (count: number) => string,
): GeoJSON.Feature[] {
  const places = stops.map(({ longitude, latitude }) => placeOf(longitude, latitude));
  return cluster(places, zoom).flatMap(({ x, y, members }) => {
    const [first, ...others] = members.map((member) => stops[member]).sort(byNumber);
    if (!first) return [];
    const [longitude, latitude] = degreesOf({ x, y });
    const number = others.length > 0 ? `${first.number}+` : String(first.number);
    const label = others.length > 0 ? several(members.length) : first.label;
    return [point(longitude, latitude, { number, label })];
  });
}

function byNumber(one: RouteStop | undefined, other: RouteStop | undefined): number {
  return (one?.number ?? 0) - (other?.number ?? 0);
}

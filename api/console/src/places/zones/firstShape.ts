/** The shape that a zone begins with where it is not drawn with the mouse. */

import { type Place, readPlace, type Shape, type ShapeKind } from "../../map/area";
import type { View } from "../../map/baseMap";

const METERS_PER_DEGREE = 111_319.49;
const LEAST_METERS = 50;
const MOST_METERS = 5000;
/** Part of the map's width at zoom 0, 512 pixels for 360 degrees, that the shape takes to either side. */
const DEGREES_AT_ZOOM_0 = 60;

/** A shape around a place, of a size that is seen well in the view. */
export function firstShape(kind: ShapeKind, [latitude, longitude]: Place, { zoom }: View): Shape {
  const across = Math.cos((latitude * Math.PI) / 180);
  const seen = (DEGREES_AT_ZOOM_0 / 2 ** zoom) * METERS_PER_DEGREE * across;
  const meters = Math.round(Math.max(LEAST_METERS, Math.min(MOST_METERS, seen)) / 50) * 50;
  if (kind === "circle") return { kind, center: [latitude, longitude], radius: meters };
  const north = meters / METERS_PER_DEGREE;
  const east = north / Math.max(0.1, across);
  const corner = (up: number, right: number): Place => [latitude + up * north, longitude + right * east];
  if (kind === "corridor") return { kind, line: [corner(0, -1), corner(0, 1)] };
  return { kind, rings: [[corner(-1, -1), corner(-1, 1), corner(1, 1), corner(1, -1)]] };
}

/** The place of an address, `52.5,13.4`; null if it is none. */
export function placeOfAddress(text: string | null): Place | null {
  return text === null ? null : readPlace(text.replace(",", " "));
}

/** Points of a shape as text, for exact values and for editing without a mouse. */

import type { Key, Values } from "../../i18n/translate";
import { MOST_POINTS, type Place, readPlace, type Shape, writePlace } from "../../map/area";

/** A shape, or what is wrong with the text. */
export type Read = { shape: Shape } | { error: Key; values: Values };

/** A line for each point; an empty line between rings. */
export function pointsOf(shape: Shape): string {
  if (shape.kind === "circle") return "";
  const rings = shape.kind === "corridor" ? [shape.line] : shape.rings;
  return rings.map((ring) => ring.map(writePlace).join("\n")).join("\n\n");
}

/** The polygon or corridor of a text. */
export function readPoints(text: string, kind: "polygon" | "corridor"): Read {
  const least = kind === "polygon" ? 3 : 2;
  const rings: Place[][] = [[]];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") {
      if (kind === "polygon" && rings.at(-1)?.length) rings.push([]);
      continue;
    }
    const place = readPlace(line.replace(/[,;]/g, " "));
    if (!place) return { error: "zone.badPoint", values: { line: index + 1 } };
    rings.at(-1)?.push(place);
  }
  if (rings.length > 1 && rings.at(-1)?.length === 0) rings.pop();
  if (rings.some((ring) => ring.length < least)) return { error: "zone.fewPoints", values: { count: least } };
  if (rings.flat().length > MOST_POINTS) return { error: "zone.manyPoints", values: { count: MOST_POINTS } };
  return { shape: kind === "polygon" ? { kind, rings } : { kind, line: rings[0] ?? [] } };
}

/** The area of a zone as the API has it, with latitude before longitude (docs/geofences.md). */

/** Degrees. */
export type Place = readonly [latitude: number, longitude: number];

export type Shape =
  | { kind: "circle"; center: Place /** Meters. */; radius: number }
  /** The outer ring, then any holes, none of them closed. */
  | { kind: "polygon"; rings: readonly (readonly Place[])[] }
  | { kind: "corridor"; line: readonly Place[] };
export type ShapeKind = Shape["kind"];

/** Points of an area that the server takes. */
export const MOST_POINTS = 2000;
const SHAPE = /^\s*(CIRCLE|POLYGON|LINESTRING)\s*\(([\s\S]*)\)\s*$/;
const RINGS = /^\s*\([^()]*\)\s*(,\s*\([^()]*\)\s*)*$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
/** A millionth of a degree is a tenth of a meter. */
const DECIMALS = 6;

/** The shape of an area; null for a text that is none. */
export function readArea(text: string): Shape | null {
  const [, word, inner = ""] = SHAPE.exec(text) ?? [];
  if (word === "CIRCLE") {
    const [place, meters, more] = inner.split(",");
    const center = readPlace(place ?? "");
    const radius = readNumber((meters ?? "").trim());
    return center && radius !== null && radius >= 0 && more === undefined
      ? { kind: "circle", center, radius }
      : null;
  }
  if (word === "LINESTRING") {
    const line = readPlaces(inner.split(","));
    return line && line.length >= 2 ? { kind: "corridor", line } : null;
  }
  if (word !== "POLYGON" || !RINGS.test(inner)) return null;
  const rings: Place[][] = [];
  for (const [, ring = ""] of inner.matchAll(/\(([^()]*)\)/g)) {
    const places = readPlaces(ring.split(","));
    if (!places) return null;
    const [first, last] = [places[0], places.at(-1)];
    if (places.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1]) places.pop();
    if (places.length < 3) return null;
    rings.push(places);
  }
  return { kind: "polygon", rings };
}

/** The text of a shape; rings are closed, as other programs expect them. */
export function writeArea(shape: Shape): string {
  switch (shape.kind) {
    case "circle":
      return `CIRCLE (${writePlace(shape.center)}, ${rounded(shape.radius, 2)})`;
    case "corridor":
      return `LINESTRING (${shape.line.map(writePlace).join(", ")})`;
    case "polygon": {
      const closed = shape.rings.map((ring) => [...ring, ...ring.slice(0, 1)].map(writePlace).join(", "));
      return `POLYGON (${closed.map((ring) => `(${ring})`).join(", ")})`;
    }
  }
}

/** Latitude and longitude with a space between them; null for anything else. */
export function readPlace(text: string): Place | null {
  const words = text.trim().split(/\s+/);
  const [latitude, longitude] = words.map(readNumber);
  if (words.length !== 2 || typeof latitude !== "number" || typeof longitude !== "number") return null;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 360 ? [latitude, longitude] : null;
}

/** `52.5 13.4`, to a tenth of a meter. */
export function writePlace([latitude, longitude]: Place): string {
  return `${rounded(latitude, DECIMALS)} ${rounded(longitude, DECIMALS)}`;
}

function readPlaces(texts: readonly string[]): Place[] | null {
  const places = texts.map(readPlace);
  return places.every((each) => each !== null) ? places : null;
}

function readNumber(text: string): number | null {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

/** Without exponents and zeros at the end. */
function rounded(value: number, decimals: number): string {
  return value
    .toFixed(decimals)
    .replace(/\.?0+$/, "")
    .replace(/^-0$/, "0");
}

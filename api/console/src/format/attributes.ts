/**
 * Attributes of positions and alarms in words, in the reader's units (docs/attributes.md).
 *
 * `actors/words/values.py` does the same for messages and workbooks; both pass `api/console/src/format/attributeCases.json`.
 */

import { hasText, t } from "../i18n/translate";
import { alarmName, joined, marked, parts } from "./alarms";
import { ALARM_DETAILS, BITS, CAMERA_KEYS, MEASURES, PROGRAMS_ONLY } from "./attributeTable";
import { ALARMS } from "./kindTable";
import type { Style } from "./style";
import { dateTime, duration } from "./times";
import { altitude, distance, number, speed, volume } from "./units";

/** Attributes of a position, and what it was sent by. */
export interface Values {
  attributes: Record<string, unknown>;
  protocol?: string;
}

/** What a camera is called after the word for it: `2 (front)`, else `2`. */
export type CameraNumber = (camera: number) => string;

interface Measure {
  unit: string;
  decimals: number | null;
}

/** An entry of the table: `temp#` and 3 of `temp3`. */
interface Found {
  name: string;
  digits: string;
  measure: Measure;
}

/** In an hour, of a knot. */
const KILOMETERS = 1.852;
const HEXADECIMAL = /^(bms|parameter|item)(0x[0-9A-F]+|[0-9a-f]+)$/;
/** The camera that a file is of. */
const CAMERA = "channel";
/** Attributes with a bit for each camera. */
const CAMERA_BITS: ReadonlySet<string> = new Set(["videoLost", "videoCovered"]);
/** Greater numbers are no bits. */
const MOST_BITS = 2 ** 53;

/** What devices and computed attributes call as they like. */
const UNKNOWN: Found = { name: "", digits: "", measure: { unit: "", decimals: null } };
const PERCENT: Found = { name: "", digits: "", measure: { unit: "%", decimals: 0 } };

const measures: ReadonlyMap<string, Measure> = new Map(
  MEASURES.flatMap(([unit, decimals, keys]) =>
    keys.split(" ").map((key) => [key, { unit, decimals }] as const),
  ),
);
/** Attributes whose bits have separate meanings, and whether there are words for them. */
const bits: ReadonlyMap<string, boolean> = new Map(Object.entries(BITS));
const hidden: ReadonlySet<string> = new Set(PROGRAMS_ONLY);
const cameras: ReadonlySet<string> = new Set(CAMERA_KEYS);
const alarms: ReadonlySet<string> = new Set(ALARMS);
const details: ReadonlyMap<string, string> = new Map(Object.entries(ALARM_DETAILS));

function find(key: string, protocol = ""): Found | null {
  const own = measures.get(`${protocol}.${key}`);
  if (own) return { name: `${protocol}.${key}`, digits: "", measure: own };
  const known = measures.get(key);
  if (known) return { name: key, digits: "", measure: known };
  const [, family, code] = HEXADECIMAL.exec(key) ?? [];
  const [name, digits] = family && code ? [`${family}#`, code] : marked(key);
  const measure = measures.get(name);
  return measure ? { name, digits, measure } : null;
}

/** `fuelPercent` as `Fuel percent`; a key that is not of plain words is left as it is. */
export function spaced(key: string): string {
  if (!/^[a-z]{3,}([A-Z][a-z]+)*$/.test(key)) return key;
  return capitalized(key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}

/** A text with a capital at its beginning, for where it stands alone. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of an attribute; of one that the server does not know, its words. */
export function attributeName(key: string): string {
  const found = find(key);
  const text = `value.${found?.name}`;
  return found && hasText(text) ? t(text).replace("#", found.digits) : spaced(key);
}

/** The keys of what people read; what an alarm says in words is not said again. */
export function shownKeys({ attributes }: Values): readonly string[] {
  const exact = Boolean(attributes.alarmDetail);
  return Object.keys(attributes).filter((key) => !hidden.has(key) && !(exact && cameras.has(key)));
}

/** The value of an attribute as people read it. */
export function attributeText(
  key: string,
  { attributes, protocol }: Values,
  style: Style,
  camera: CameraNumber = String,
): string {
  const value = attributes[key];
  if (key === "alarm") return capitalized(alarmsText(value, attributes.alarmDetail));
  if (key === "sensorsOutOfRange" && typeof value === "string")
    return parts(value).map(attributeName).join(", ");
  if (key === CAMERA && typeof value === "number" && Number.isInteger(value) && value > 0)
    return camera(value);
  return valueText(key, value, protocol ?? "", style, CAMERA_BITS.has(key) ? camera : String);
}

function valueText(
  key: string,
  value: unknown,
  protocol: string,
  style: Style,
  numbered: CameraNumber,
): string {
  const { name, measure } = find(key, protocol) ?? (key.endsWith("Percent") ? PERCENT : UNKNOWN);
  if (typeof value === "boolean") return word(name, String(value)) || t(value ? "value.yes" : "value.no");
  if (typeof value === "string") {
    const instant = measure.unit === "time" ? Date.parse(value) : Number.NaN;
    return Number.isNaN(instant) ? word(name, value) || value : dateTime(instant, style);
  }
  if (typeof value !== "number") return JSON.stringify(value);
  if (bits.has(name) && value >= 0 && value < MOST_BITS) return bitsText(name, Math.floor(value), numbered);
  return word(name, String(value)) || measured(value, measure, style);
}

/** The word for a value or a bit; empty where it has none. */
function word(name: string, code: string): string {
  const key = `word.${name}.${code}`;
  return hasText(key) ? t(key) : "";
}

/** The bits that are set: by their words where the attribute has some, else by number, from 1. */
function bitsText(name: string, value: number, numbered: CameraNumber): string {
  const set = [...value.toString(2)].reverse().flatMap((bit, place) => (bit === "1" ? [place] : []));
  const texts = set.map((bit) => (bits.get(name) ? word(name, String(bit)) : numbered(bit + 1)));
  return texts.filter(Boolean).join(", ") || t("value.none");
}

function measured(value: number, { unit, decimals }: Measure, style: Style): string {
  switch (unit) {
    case "m":
      return distance(value, style);
    case "km":
      return distance(value * 1000, style);
    case "0.1 km":
      return distance(value * 100, style);
    case "m up":
      return altitude(value, style);
    case "knots":
      return speed(value, style);
    case "km/h":
      return speed(value / KILOMETERS, style);
    case "l":
      return volume(value, style);
    case "l/h":
      return `${volume(value, style)}/h`;
    case "ms":
      return duration(value, style);
    case "s":
      return duration(value * 1000, style);
    default:
      return `${number(value, decimals ?? (Number.isInteger(value) ? 0 : 2), style)} ${unit}`.trimEnd();
  }
}

/** Alarms by name, for the middle of a sentence: `phone in hand, level 1`; `exact` says what they are exactly. */
function alarmsText(keys: unknown, exact: unknown): string {
  const known = parts(exact);
  return joined(
    parts(keys).flatMap((key) => {
      const own = known.filter((detail) => alarmOf(detail) === key);
      return (own.length > 0 ? own : [key]).map(alarmName);
    }),
  );
}

function alarmOf(detail: string): string {
  const [name = ""] = detail.split(":", 1);
  if (alarms.has(name)) return name;
  return details.get(name) ?? details.get(marked(name)[0]) ?? "general";
}

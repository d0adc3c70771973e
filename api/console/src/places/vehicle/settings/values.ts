/** What the settings of a vehicle show in place of what the API stores. */

import type { Device } from "../../../api/types";
import type { Style } from "../../../format/style";
import { speedIn } from "../../../format/units";
import type { Key } from "../../../i18n/translate";
import { instantOf, wallOf } from "../../../time/zones";
import { CAMERAS } from "../../../video/cameraNames";
import { IMAGE } from "../deviceImage";

/** The fields of a device that are edited; all others are the server's. */
export type Settings = Omit<Device, "status" | "lastUpdate" | "positionId">;

/** A device without what the server sets. */
export function settingsOf({ status: _, lastUpdate: __, positionId: ___, ...rest }: Device): Settings {
  return rest;
}

/** An attribute that the server knows (docs/positions.md#settings-of-the-rules), as people enter it. */
export interface KnownAttribute {
  name: string;
  label: Key;
  hint?: Key;
  max: number;
  /** What is entered, times this, is what is stored. */
  factor: (style: Style) => number;
  whole?: true;
}

const HOUR_MS = 3_600_000;
export const ZONE_ATTRIBUTE = "decoder.timezone";

export const KNOWN: readonly KnownAttribute[] = [
  {
    name: "channels",
    label: "settings.channels",
    hint: "settings.channelsHint",
    max: 31,
    factor: () => 1,
    whole: true,
  },
  {
    name: "speedLimit",
    label: "settings.speedLimit",
    hint: "settings.speedLimitHint",
    max: 1000,
    factor: (style) => 1 / speedIn(1, style),
  },
  { name: "fuelCapacity", label: "settings.fuelCapacity", max: 100_000, factor: () => 1 },
  {
    name: "fuelDropThreshold",
    label: "settings.fuelDrop",
    hint: "settings.fuelDropHint",
    max: 100_000,
    factor: () => 1,
  },
  {
    name: "deviceInactivityStart",
    label: "settings.inactivity",
    hint: "settings.inactivityHint",
    max: 100_000,
    factor: () => HOUR_MS,
  },
];
const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...KNOWN.map((each) => each.name),
  ZONE_ATTRIBUTE,
  CAMERAS,
  IMAGE,
]);

/** A known attribute as it is entered; empty where it is not set. */
export function enteredOf(known: KnownAttribute, value: unknown, style: Style): string {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return "";
  // Speeds are stored in knots: 50 km/h come back as 49.99…
  return String(Math.round((number / known.factor(style)) * 100) / 100);
}

/** What is stored of what was entered: undefined for nothing, null where it is no such number. */
export function storedOf(known: KnownAttribute, text: string, style: Style): number | undefined | null {
  if (text.trim() === "") return undefined;
  const number = Number(text.trim().replace(",", "."));
  if (!(number >= 0 && number <= known.max) || (known.whole && !Number.isInteger(number))) return null;
  return known.whole ? number : number * known.factor(style);
}

/** An attribute without a field of its own, in the order of the page. */
export interface OtherAttribute {
  name: string;
  text: string;
  /** As it was read; undefined for a new one. */
  was: unknown;
}

/** The attributes that have no field of their own. */
export function otherAttributes(attributes: Device["attributes"]): OtherAttribute[] {
  return Object.entries(attributes)
    .filter(([name]) => !KNOWN_NAMES.has(name))
    .map(([name, value]) => ({ name, text: writeValue(value), was: value }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** The attributes, with `others` replacing all that have no field of their own. */
export function withOthers(
  attributes: Device["attributes"],
  others: readonly OtherAttribute[],
): Device["attributes"] {
  const known = Object.entries(attributes).filter(([name]) => KNOWN_NAMES.has(name));
  const added = others
    .filter(({ name }) => name.trim() !== "" && !KNOWN_NAMES.has(name.trim()))
    .map(({ name, text, was }) => [name.trim(), readValue(text, was)] as const);
  return Object.fromEntries([...known, ...added]);
}

function writeValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A text stays a text; all else is read as numbers, truth values and JSON are written. */
function readValue(text: string, was: unknown): unknown {
  if (typeof was === "string" || text === "") return text;
  if (was !== undefined && text === writeValue(was)) return was;
  try {
    const value: unknown = JSON.parse(text);
    // Digits that a number cannot hold are a name: 0139…, or the 20 of a card.
    return typeof value === "number" && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}

/** An instant as fields of the type `datetime-local` have it, in a zone. */
export function localTime(instant: string | null, zone: string): string {
  if (!instant) return "";
  const { year, month, day, hour, minute } = wallOf(Date.parse(instant), zone);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`;
}

/** The instant of such a field, or null. */
export function instantOfLocal(text: string, zone: string): string | null {
  const [year, month, day, hour, minute] = text.split(/\D/).map(Number);
  if (!year || !month || !day || hour === undefined || minute === undefined) return null;
  return new Date(instantOf({ year, month, day, hour, minute, second: 0 }, zone)).toISOString();
}

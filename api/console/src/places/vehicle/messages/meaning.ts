/** Messages of a device while somebody watches, and what their parts say in the reader's words. */

import type { LogRecord } from "../../../api/socket";
import { attributeName, attributeText, spaced } from "../../../format/attributes";
import type { Style } from "../../../format/style";
import { dateTime } from "../../../format/times";
import { altitude, distance, number, speed } from "../../../format/units";
import { hasText, t } from "../../../i18n/translate";

/** Most messages that are kept; the oldest are dropped. */
export const MOST = 200;

export interface DeviceMessage {
  id: number;
  /** When it arrived here, in milliseconds since 1970. */
  time: number;
  sent: boolean;
  protocol: string;
  /** In hexadecimal digits; of long ones the beginning. */
  data: string;
  problem: string;
}

let newest = 0;

/** The messages with those of `records` that are the device's before them, the newest first. */
export function addMessages(
  known: readonly DeviceMessage[],
  records: readonly LogRecord[],
  deviceId: number,
  time: number,
): readonly DeviceMessage[] {
  const added = records
    .filter((each) => each.deviceId === deviceId)
    .map(({ sent = false, protocol = "", data = "", problem = "" }) => {
      newest += 1;
      return { id: newest, time, sent, protocol, data, problem };
    });
  return added.length > 0 ? [...added.reverse(), ...known].slice(0, MOST) : known;
}

export function lengthOf(hex: string): number {
  return Math.floor(hex.length / 2);
}

/** Bytes as text, line ends as `\r\n`; null if they are none that people read. */
export function textOf(hex: string): string | null {
  const bytes = hex.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
  const readable = (byte: number) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d;
  if (bytes.length === 0 || !bytes.every(readable)) return null;
  return String.fromCharCode(...bytes)
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n");
}

/** Bytes in pairs of digits. */
export function spacedHex(hex: string): string {
  return hex.replace(/..(?=.)/g, "$& ");
}

export interface Meaning {
  name: string;
  /** Null: the part could say it, and does not now. */
  value: string | null;
}

/** What a part says; the number before a name tells reports of a message apart. */
export function meaningOf(key: string, value: unknown, protocol: string, style: Style): Meaning {
  const [, digits, field = key] = /^(\d+)\.(.+)$/.exec(key) ?? [];
  const name = fieldName(field);
  return {
    name: digits ? `${digits} · ${name}` : name,
    value: value === null || value === undefined ? null : wordsOf(field, value, protocol, style),
  };
}

function fieldName(field: string): string {
  const [kind, place = "", detail = ""] = field.split(".");
  if (kind === "cellTowers" || kind === "wifiAccessPoints") {
    const station = t(`messages.${kind}`, { number: place });
    return detail ? `${station}, ${spaced(detail)}` : station;
  }
  const known = `messages.field.${field}`;
  return hasText(known) ? t(known) : attributeName(field);
}

function wordsOf(field: string, value: unknown, protocol: string, style: Style): string {
  if (typeof value === "number") {
    switch (field) {
      case "latitude":
      case "longitude":
        return `${number(value, 6, style)}°`;
      case "course":
        return `${number(value, 0, style)}°`;
      case "speed":
        return speed(value, style);
      case "altitude":
        return altitude(value, style);
      case "accuracy":
        return distance(value, style);
    }
  }
  if (typeof value === "string" && (field === "deviceTime" || field === "fixTime"))
    return dateTime(Date.parse(value), style);
  if (field.includes(".")) return String(value);
  if (Array.isArray(value)) return value.join(", ");
  return attributeText(field, { attributes: { [field]: value }, protocol }, style);
}

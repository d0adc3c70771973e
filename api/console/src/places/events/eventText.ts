/** An event in words: what happened, with its values in the reader's units. */

import type { Event } from "../../api/types";
import { alarmText } from "../../format/alarms";
import { attributeWords } from "../../format/attributeWords";
import type { Style } from "../../format/style";
import { duration } from "../../format/times";
import { speed, volume } from "../../format/units";
import { hasText, t } from "../../i18n/translate";
import type { IconName } from "../../parts/Icon";
import { typeName } from "./kinds";

/** Names by id, where the reader may see them. */
export type Names = ReadonlyMap<number, string>;

/** How much an event matters: the color and shape of its mark. */
export type Tone = "alarm" | "warning" | "plain";

const WARNINGS = new Set([
  "deviceOverspeed",
  "deviceFuelDrop",
  "sensorOutOfRange",
  "deviceInactive",
  "deviceLoginRefused",
  "driverHoursWarning",
  "driverHoursExceeded",
  "queuedCommandFailed",
  "unaccompaniedMotion",
  "notificatorPaused",
  "ticketWebhookDisabled",
]);

/** What happened, in a line. */
export function eventText({ type, geofenceId, attributes }: Event, zones: Names, style: Style): string {
  const text = typeName(type);
  switch (type) {
    case "alarm":
      return typeof attributes.alarm === "string"
        ? t("event.alarm", { alarm: alarmText(attributes.alarm, attributes.alarmDetail) })
        : text;
    case "deviceOverspeed":
      return typeof attributes.speed === "number" && typeof attributes.speedLimit === "number"
        ? t("event.overspeed", {
            speed: speed(attributes.speed, style),
            limit: speed(attributes.speedLimit, style),
          })
        : text;
    case "deviceLoginRefused":
      return t("event.refused", {
        text,
        protocol: String(attributes.protocol),
        host: String(attributes.host),
      });
    case "deviceFuelDrop":
    case "deviceFuelIncrease":
      return typeof attributes.before === "number" && typeof attributes.after === "number"
        ? t("event.fuel", {
            text,
            before: volume(attributes.before, style),
            after: volume(attributes.after, style),
          })
        : text;
    case "sensorOutOfRange":
    case "sensorInRange":
      return sensorText(text, attributes, style);
    case "driverHoursWarning":
    case "driverHoursExceeded":
      return hoursText(text, attributes, style);
    case "geofenceEnter":
    case "geofenceExit":
    case "geofenceCrossed": {
      const zone = zones.get(geofenceId);
      return zone === undefined ? text : t(`event.inZone.${type}`, { zone });
    }
    case "media": {
      const key = `event.media.${String(attributes.media)}`;
      return hasText(key) ? t(key) : text;
    }
    default:
      return withDetail(text, attributes);
  }
}

/** A sensor, its value, and the bound beyond which it is. */
function sensorText(text: string, { sensor, value, limit }: Event["attributes"], style: Style): string {
  if (typeof sensor !== "string" || typeof value !== "number") return text;
  const words = attributeWords();
  if (!words) return text;
  const said = (number: number) => words.attributeText(sensor, { attributes: { [sensor]: number } }, style);
  const values = { text, sensor: words.attributeName(sensor), value: said(value) };
  return typeof limit === "number"
    ? t("event.sensorLimit", { ...values, limit: said(limit) })
    : t("event.sensor", values);
}

/** Which limit of whose driving or resting time, and how long until it is reached. */
function hoursText(text: string, { rule, left, driverUniqueId }: Event["attributes"], style: Style): string {
  const key = `event.hours.${String(rule)}`;
  const details = [
    hasText(key) ? t(key) : "",
    typeof left === "number" ? t("event.hoursLeft", { span: duration(left, style) }) : "",
    typeof driverUniqueId === "string" ? driverUniqueId : "",
  ].filter(Boolean);
  return details.length > 0 ? t("event.with", { text, detail: details.join(", ") }) : text;
}

/** A result, a reason or a driver that came with the event. */
function withDetail(text: string, attributes: Event["attributes"]): string {
  const found = [attributes.result, attributes.reason, attributes.driverUniqueId].find(
    (value) => typeof value === "string" && value !== "",
  );
  return typeof found === "string" ? t("event.with", { text, detail: found }) : text;
}

export function toneOf({ type, severity }: Pick<Event, "type" | "severity">): Tone {
  if (severity) return severity === "CRITICAL" ? "alarm" : severity === "WARNING" ? "warning" : "plain";
  if (type === "alarm") return "alarm";
  return WARNINGS.has(type) ? "warning" : "plain";
}

export function iconOf(event: Pick<Event, "type" | "severity">): IconName {
  const tone = toneOf(event);
  if (tone !== "plain") return tone;
  if (event.type.startsWith("geofence")) return "zone";
  if (event.type === "media") return "still";
  if (/command/i.test(event.type)) return "command";
  return "events";
}

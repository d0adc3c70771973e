import { beforeAll, expect, test } from "vitest";
import type { Event } from "../../api/types";
import { loadAttributeWords } from "../../format/attributeWords";
import { styleOf } from "../../format/style";
import { setLanguage } from "../../i18n/translate";
import { eventText, iconOf, toneOf } from "./eventText";

const STYLE = styleOf(null, null, "en");
const zones = new Map([[4, "Depot"]]);
const said = (type: string, attributes: Event["attributes"] = {}, geofenceId = 0) =>
  eventText({ type, attributes, geofenceId } as Event, zones, STYLE);

beforeAll(async () => {
  await setLanguage("en");
  await loadAttributeWords();
});

test("events are said with their values", () => {
  expect(said("alarm", { alarm: "sos" })).toBe("Alarm: emergency button");
  expect(said("alarm", { alarm: "general", alarmDetail: "phoneUse:1" })).toBe(
    "Alarm: phone in hand, level 1",
  );
  expect(said("alarm")).toBe("Alarm");
  expect(said("deviceOverspeed", { speed: 50, speedLimit: 43.2 })).toBe("Too fast: 93 km/h, allowed 80 km/h");
  expect(said("deviceOverspeed")).toBe("Too fast");
  expect(said("deviceFuelDrop", { before: 40, after: 30.5 })).toBe("Fuel dropped: from 40.0 l to 30.5 l");
  expect(said("sensorOutOfRange", { sensor: "temp1", value: -15.26, limit: -18 })).toBe(
    "Sensor out of range: Temperature 1 -15.3 °C, limit -18.0 °C",
  );
  expect(said("sensorInRange", { sensor: "coldRoom", value: 3 })).toBe("Sensor back in range: Cold room 3");
  expect(said("sensorInRange")).toBe("Sensor back in range");
  expect(said("driverHoursWarning", { rule: "driving", left: 1_800_000, driverUniqueId: "D-1003" })).toBe(
    "Driver's hours: near a limit: driving without a break, 30 min left, D-1003",
  );
  expect(said("driverHoursExceeded", { rule: "weeklyRest", driverId: 3 })).toBe(
    "Driver's hours: limit exceeded: weekly rest",
  );
  expect(said("driverHoursExceeded", { rule: "newer" })).toBe("Driver's hours: limit exceeded");
  expect(said("geofenceExit", {}, 4)).toBe("Left Depot");
  expect(said("geofenceExit", {}, 5)).toBe("Left a zone");
  expect(said("media", { media: "image", file: "a.jpg" })).toBe("Sent a picture");
  expect(said("media", { media: "other" })).toBe("Sent a file");
  expect(said("commandResult", { result: "OK" })).toBe("Answer to a command: OK");
  expect(said("deviceOnline")).toBe("Came online");
  expect(said("deviceLoginRefused", { protocol: "osmand", reason: "protocol", host: "192.0.2.1" })).toBe(
    "Login refused: osmand, from 192.0.2.1",
  );
  expect(said("unheardOf")).toBe("unheardOf");
});

test("alarms stand out", () => {
  const tone = (type: string, severity: Event["severity"] = null) => toneOf({ type, severity });
  // Of events from before there were severities.
  expect(tone("alarm")).toBe("alarm");
  expect(tone("deviceOverspeed")).toBe("warning");
  expect(tone("ignitionOn")).toBe("plain");
  expect(tone("alarm", "INFO")).toBe("plain");
  expect(tone("ignitionOn", "CRITICAL")).toBe("alarm");
  expect(iconOf({ type: "alarm", severity: "WARNING" })).toBe("warning");
  expect(iconOf({ type: "geofenceEnter", severity: "INFO" })).toBe("zone");
});

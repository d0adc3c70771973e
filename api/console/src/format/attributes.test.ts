import { beforeAll, describe, expect, test } from "vitest";
import { loadTexts, setLanguage } from "../i18n/translate";
import { alarmText } from "./alarms";
import cases from "./attributeCases.json";
import { attributeName, attributeText, capitalized, shownKeys } from "./attributes";
import { styleOf } from "./style";

const STYLE = styleOf({ attributes: cases.preferences }, null, "en");

beforeAll(async () => {
  await setLanguage("en");
  await loadTexts("values");
});

type Name = [key: string, name: string];
type Value = [key: string, value: unknown, protocol: string, text: string];
type Alarm = [attributes: [string, string | null], text: string];

describe("as the server does", () => {
  test.each(cases.names as Name[])("%s is called %s", (key, name) => {
    expect(attributeName(key)).toBe(name);
  });

  test.each(cases.values as Value[])("%s %j of %j is %s", (key, value, protocol, text) => {
    expect(attributeText(key, { attributes: { [key]: value }, protocol }, STYLE)).toBe(text);
  });

  test.each(cases.ofCameras as [string, unknown, string][])(
    "%s %j has names of cameras: %s",
    (key, value, text) => {
      const names: Record<string, string> = cases.cameras;
      const named = (camera: number) => (names[camera] ? `${camera} (${names[camera]})` : String(camera));
      expect(attributeText(key, { attributes: { [key]: value } }, STYLE, named)).toBe(text);
    },
  );

  test.each(cases.alarms as Alarm[])("%j is said as %s", ([alarm, alarmDetail], text) => {
    expect(attributeText("alarm", { attributes: { alarm, alarmDetail } }, STYLE)).toBe(capitalized(text));
  });
});

test("an event says what its alarm is exactly, for the middle of a sentence", () => {
  expect(alarmText("sos", undefined)).toBe("emergency button");
  expect(alarmText("general", "phoneUse:1,smoking")).toBe("phone in hand, level 1; smoking");
  expect(alarmText("general", "tire3PressureLow")).toBe("tyre 3: pressure too low");
});

test("what an alarm says in words is not said again", () => {
  const attributes = {
    alarm: "general",
    alarmDetail: "phoneUse:1",
    alarmLabel: "00",
    dmsAlarm: 2,
    dmsLevel: 1,
  };
  expect(shownKeys({ attributes })).toEqual(["alarm"]);
  expect(attributeText("alarm", { attributes }, STYLE)).toBe("Phone in hand, level 1");
  expect(shownKeys({ attributes: { dmsAlarm: 2, raw: "7e" } })).toEqual(["dmsAlarm"]);
});

test("units, decimals and times are the reader's", () => {
  const own = styleOf(
    { attributes: { speedUnit: "mph", distanceUnit: "mi", altitudeUnit: "ft", timezone: "Europe/Berlin" } },
    null,
    "de",
  );
  const text = (key: string, value: unknown) => attributeText(key, { attributes: { [key]: value } }, own);
  expect(text("obdSpeed", 100)).toBe("62 mph");
  expect(text("odometer", 16_093.44)).toBe("10,0 mi");
  expect(text("verticalAccuracy", 3.048)).toBe("10 ft");
  expect(text("tripStart", "2026-05-01T10:00:00+00:00")).toContain("12:00:00");
  expect(text("tripStart", "yesterday")).toBe("yesterday");
});

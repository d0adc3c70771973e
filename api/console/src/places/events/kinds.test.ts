import { expect, test } from "vitest";
import { alarmName } from "../../format/alarms";
import { ALARMS, EVENT_TYPES } from "../../format/kindTable";
import { start as en } from "../../i18n/en";
import { setLanguage } from "../../i18n/translate";
import { kindChoices, kindName, kindsOf, parametersOf } from "./kinds";

test("the types and alarms of the server have words", () => {
  for (const type of EVENT_TYPES) expect(en).toHaveProperty([`event.type.${type}`]);
  for (const alarm of ALARMS) expect(en).toHaveProperty([`alarm.${alarm}`]);
});

test("what the page does not know is shown as it is", async () => {
  await setLanguage("en");
  expect(alarmName("flood")).toBe("flood");
  expect(kindName("alarm:flood")).toBe("Alarm: flood");
  expect(kindName("somethingNew")).toBe("somethingNew");
  expect(kindChoices().map(({ name }) => name)).toContain("Alarm: emergency button");
});

test("all alarms count for more than some, and kinds come back from an address", () => {
  expect(parametersOf(["alarm:sos", "media"])).toEqual({ type: ["alarm", "media"], alarm: ["sos"] });
  expect(parametersOf(["alarm:sos", "alarm"])).toEqual({ type: ["alarm"], alarm: [] });
  expect(parametersOf([])).toEqual({ type: [], alarm: [] });
  for (const kinds of [[], ["alarm"], ["alarm:sos", "alarm:door", "media"], ["deviceMoving", "ignitionOn"]]) {
    const { type, alarm } = parametersOf(kinds);
    expect(kindsOf(type, alarm)).toEqual(kinds);
  }
  expect(kindsOf(["allEvents"], [])).toEqual([]);
  expect(kindsOf(["media", "media"], ["sos", "sos"])).toEqual(["alarm:sos", "media"]);
});

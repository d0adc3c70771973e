import { expect, test } from "vitest";
import catalog from "../../../../../actors/words/catalogs/en.toml?raw";
import { en } from "../../i18n/en";
import { EVENT_NAMES, EVENT_TYPES } from "../../i18n/eventTypes";
import { events } from "../../i18n/pt/events";
import { setLanguage } from "../../i18n/translate";
import { ALARMS, alarmName, kindChoices, kindName, kindsOf, parametersOf } from "./kinds";

test("the types and alarms of the server are known, and have words", () => {
  const [, alarms = ""] = /\[alarms\]\n([^[]*)/.exec(catalog) ?? [];
  expect([...ALARMS].sort()).toEqual([...alarms.matchAll(/^(\w+) =/gm)].map((found) => found[1]).sort());
  for (const type of EVENT_TYPES) expect(en).toHaveProperty([`event.type.${type}`]);
  for (const alarm of ALARMS) expect(en).toHaveProperty([`alarm.${alarm}`]);
});

test("Portuguese names all types but those that no language has translated", () => {
  const [, listed = ""] = /^untranslated = \[([^\]]*)/m.exec(catalog) ?? [];
  const untranslated = [...listed.matchAll(/"(\w+)"/g)].map((found) => `event.type.${found[1]}`);
  const lacking = Object.keys(EVENT_NAMES).filter((key) => !(key in events));
  expect(lacking.sort()).toEqual(untranslated.sort());
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

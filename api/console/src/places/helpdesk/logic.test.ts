import { describe, expect, test } from "vitest";
import { minutesOf, minutesText, partsOf } from "./minutes";
import {
  fieldOfRule,
  mixesAlarms,
  newRule,
  ruleKinds,
  rulesOf,
  withDefaults,
  withKinds,
  withRule,
} from "./rule";
import { hookOf, newSecret, USUAL_TYPES } from "./webhook";
import { mayFollow, nextOf, withNext } from "./workflow";

describe("business minutes", () => {
  test("are hours where they are whole ones, and never days", () => {
    expect(partsOf(240)).toEqual({ count: 4, unit: "hours" });
    expect(partsOf(90)).toEqual({ count: 90, unit: "minutes" });
    expect(partsOf(0)).toEqual({ count: 0, unit: "minutes" });
    expect(minutesOf(1.5, "hours")).toBe(90);
    expect([0, 15, 90, 1440, 4320].map((each) => minutesText(each, "en"))).toEqual([
      "0 min",
      "15 min",
      "1 h 30 min",
      "24 h",
      "72 h",
    ]);
  });
});

describe("a workflow", () => {
  const status = (id: number, next?: unknown) => ({ id, attributes: next === undefined ? {} : { next } });
  const all = [status(1), status(2, [3]), status(3, [])];

  test("without a list lets any follow, but not the status itself", () => {
    const [any, some, none] = all;
    if (!any || !some || !none) throw new Error("missing");
    expect([nextOf(any), nextOf(some), nextOf(none)]).toEqual([null, [3], []]);
    expect([1, 2, 3].map((id) => mayFollow(any, id))).toEqual([false, true, true]);
    expect([1, 2, 3].map((id) => mayFollow(some, id))).toEqual([false, false, true]);
    expect(withNext(any, 3, false, all)).toEqual([2]);
    expect(withNext(some, 1, true, all)).toEqual([3, 1]);
    expect(withNext(some, 3, true, all)).toEqual([3]);
    expect(withNext(none, 3, false, all)).toEqual([]);
  });
});

describe("a rule", () => {
  test("has all fields, whatever is stored", () => {
    const [rule] = rulesOf({ ticketRules: [{ name: "SOS", id: "a", when: { eventTypes: ["alarm"] } }] });
    expect(rule).toEqual({
      ...withDefaults({}),
      name: "SOS",
      id: "a",
      when: { ...newRule().when, alarms: [] },
    });
    expect(rulesOf({})).toEqual([]);
    expect(rulesOf({ ticketRules: "x" })).toEqual([]);
  });

  test("is about kinds, of which alarms cannot be mixed with other events", () => {
    expect(ruleKinds(newRule())).toEqual(["alarm:sos"]);
    const mixed = withKinds(newRule(), ["alarm:sos", "deviceOffline"]);
    expect(mixed.when).toMatchObject({ eventTypes: ["alarm", "deviceOffline"], alarms: ["sos"] });
    expect([mixesAlarms(mixed), mixesAlarms(newRule())]).toEqual([true, false]);
    expect(mixesAlarms(withKinds(newRule(), ["alarm", "deviceOffline"]))).toBe(false);
  });

  test("takes its place among those that are there now", () => {
    const [one, two] = ["a", "b"].map((id) => withDefaults({ id, name: id }));
    if (!one || !two) throw new Error("missing");
    expect(withRule([one, two], { ...two, name: "c" }).map(({ name }) => name)).toEqual(["a", "c"]);
    expect(withRule([one], withDefaults({ name: "new" })).map(({ name }) => name)).toEqual(["a", "new"]);
    // One that was removed comes back.
    expect(withRule([one], two)).toEqual([one, two]);
  });

  test("is refused by field", () => {
    expect(fieldOfRule("attributes.ticketRules[3].when.eventTypes")).toBe("when.eventTypes");
    expect(fieldOfRule("rule.then.teamId")).toBe("then.teamId");
    expect(fieldOfRule("attributes")).toBe("attributes");
  });
});

test("a webhook has the usual messages unless it says which, and secrets are of 32 bytes", () => {
  expect(hookOf({})).toBeNull();
  expect(hookOf({ ticketWebhook: { url: "https://x.example" } })).toEqual({
    url: "https://x.example",
    events: USUAL_TYPES,
    thin: false,
    disabled: false,
    disabledReason: "",
  });
  expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSecret()).not.toBe(newSecret());
});

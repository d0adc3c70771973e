import { afterEach, expect, test } from "vitest";
import type { Event, User } from "../api/types";
import { isShown, isUrgent, notices } from "./notices";
import { session } from "./session";

const alarm = (word: string) => ({ type: "alarm", attributes: { alarm: word } }) as unknown as Event;
const other = { type: "ignitionOn", attributes: {} } as Event;
const of = (attributes: Record<string, unknown>) => {
  session.value = { attributes } as User;
  return notices();
};

afterEach(() => {
  session.value = undefined;
});

test("without choices all is shown, and alarms are urgent and silent", () => {
  for (const chosen of [of({}), of({ "console.notices": 5, "console.urgentAlarms": "sos" })]) {
    expect([isShown(alarm("sos"), chosen), isShown(other, chosen)]).toEqual([true, true]);
    expect([isUrgent(alarm("door"), chosen), isUrgent(other, chosen)]).toEqual([true, false]);
    expect(chosen.sound).toBe(false);
  }
});

test("notices can be of alarms only, or off", () => {
  const alarms = of({ "console.notices": "alarms" });
  expect([isShown(alarm("sos"), alarms), isShown(other, alarms)]).toEqual([true, false]);
  const none = of({ "console.notices": "none" });
  expect([isShown(alarm("sos"), none), isShown(other, none)]).toEqual([false, false]);
});

test("some alarms only are urgent", () => {
  const chosen = of({ "console.urgentAlarms": ["sos"], "console.noticeSound": true });
  expect([isUrgent(alarm("sos"), chosen), isUrgent(alarm("door"), chosen)]).toEqual([true, false]);
  expect(chosen.sound).toBe(true);
});

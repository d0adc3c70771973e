import { beforeAll, describe, expect, test } from "vitest";
import type { ServiceLevelView, TargetView } from "../../api/types";
import { loadTexts, setLanguage } from "../../i18n/translate";
import { askAgainAt, clockText, urgentTarget } from "./clocks";

const at = (text: string) => Date.parse(text);
/** A Friday in business hours from 9 to 17. */
const NOW = at("2026-10-16T15:00:00Z");
const STYLE = { language: "en-GB", locale: "en-GB", zone: "UTC" };

function targetOf(fields: Partial<TargetView>): TargetView {
  return {
    targetMinutes: 60,
    state: "running",
    due: "2026-10-16T15:30:00Z",
    doneAt: null,
    elapsedMinutes: 30,
    remainingMinutes: 30,
    percent: 50,
    breached: false,
    breachedAt: null,
    creditSeconds: 0,
    ...fields,
  };
}

function viewOf(target: TargetView, fields: Partial<ServiceLevelView> = {}): ServiceLevelView {
  return {
    ticketId: 1,
    priorityId: 1,
    calendarId: 1,
    statusKind: "open",
    computedAt: "2026-10-16T15:00:00Z",
    inBusinessHours: true,
    windowEnd: "2026-10-16T17:00:00Z",
    nextWindowStart: null,
    firstResponse: targetOf({ state: "none", due: null }),
    resolution: target,
    pauses: [],
    escalation: { escalatedAt: null, teamId: 0, priorityId: 0 },
    ...fields,
  };
}

function said(target: Partial<TargetView>, fields: Partial<ServiceLevelView> = {}, now = NOW) {
  const full = targetOf(target);
  return clockText(viewOf(full, fields), full, now, STYLE);
}

beforeAll(async () => {
  await setLanguage("en");
  await loadTexts("tickets");
});

describe("a clock", () => {
  test("counts down to a due time within the present business hours", () => {
    expect(said({})).toEqual({ text: "30 min left", tone: "soon" });
    expect(said({}, {}, NOW + 25 * 60_000)?.text).toBe("5 min left");
    expect(said({ due: "2026-10-16T16:45:00Z" })).toEqual({ text: "1 h 45 min left", tone: "calm" });
  });

  test("says when it is due beyond closing, since the night does not count", () => {
    expect(said({ due: "2026-10-19T09:30:00Z" })?.text).toBe("due Mon 09:30");
  });

  test("waits for the next business hours outside of them", () => {
    const outside = { inBusinessHours: false, windowEnd: null, nextWindowStart: "2026-10-19T09:00:00Z" };
    expect(said({ state: "waiting", due: "2026-10-19T09:30:00Z" }, outside)?.text).toBe(
      "waits until Mon 09:00",
    );
    expect(said({ state: "waiting", due: null }, { ...outside, nextWindowStart: null })?.text).toBe(
      "no business hours",
    );
  });

  test("says for how long it is paused", () => {
    const pause = {
      from: "2026-10-16T13:00:00Z",
      to: null,
      statusId: 3,
      reason: "pending",
      businessMinutes: 120,
    };
    expect(said({ state: "paused", due: null }, { pauses: [pause] })?.text).toBe("paused 2 h");
  });

  test("says how much was left, or by how much it was late", () => {
    expect(said({ state: "met", remainingMinutes: 80 })).toEqual({
      text: "met 1 h 20 min before",
      tone: "done",
    });
    expect(said({ state: "missed", remainingMinutes: -25 })).toEqual({ text: "25 min late", tone: "late" });
  });

  test("counts what is overdue only while business minutes count", () => {
    const late = { state: "overdue", remainingMinutes: -25, due: "2026-10-16T14:35:00Z" } as const;
    expect(said(late)).toEqual({ text: "overdue 25 min", tone: "late" });
    expect(said(late, {}, NOW + 5 * 60_000)?.text).toBe("overdue 30 min");
    expect(said(late, { inBusinessHours: false, windowEnd: null }, NOW + 5 * 60_000)?.text).toBe(
      "overdue 25 min",
    );
    // Beyond closing no more than until then.
    expect(said(late, { windowEnd: "2026-10-16T15:02:00Z" }, NOW + 5 * 60_000)?.text).toBe("overdue 27 min");
  });

  test("is silent without a target", () => {
    expect(said({ state: "none", due: null })).toBeNull();
    expect(said({ state: "cancelled" })).toBeNull();
  });
});

test("the server is asked again when business hours begin or end, or a target is due", () => {
  expect(askAgainAt(viewOf(targetOf({})), NOW)).toBe(at("2026-10-16T15:30:01Z"));
  expect(askAgainAt(viewOf(targetOf({ state: "met" })), NOW)).toBe(at("2026-10-16T17:00:01Z"));
  const never = viewOf(targetOf({ state: "met" }), { windowEnd: null });
  expect(askAgainAt(never, NOW)).toBe(Number.POSITIVE_INFINITY);
});

test("a row shows what is late, then what is due first", () => {
  const open = targetOf({});
  expect(urgentTarget(viewOf(open, { firstResponse: targetOf({ state: "overdue" }) }))).toBe("firstResponse");
  expect(urgentTarget(viewOf(open, { firstResponse: targetOf({ due: "2026-10-16T15:10:00Z" }) }))).toBe(
    "firstResponse",
  );
  expect(urgentTarget(viewOf(open, { firstResponse: targetOf({ state: "met" }) }))).toBe("resolution");
});

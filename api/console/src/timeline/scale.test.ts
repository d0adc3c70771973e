import { expect, test } from "vitest";
import { instantText } from "../time/spans";
import { atOf, moved, revealing, ticks, xOf, zoomed } from "./scale";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const from = Date.parse("2026-11-21T00:00:00Z");
const day = { from, to: from + 24 * HOUR };

test("pixels and instants", () => {
  expect(xOf(from + 6 * HOUR, day, 1200)).toBe(300);
  expect(atOf(300, day, 1200)).toBe(from + 6 * HOUR);
  expect(atOf(300, day, 0)).toBe(from);
});

test("zooming keeps the instant under the pointer, from a minute to all", () => {
  const noon = from + 12 * HOUR;
  let span = zoomed(day, noon, 0.5, day);
  expect(span).toEqual({ from: from + 6 * HOUR, to: from + 18 * HOUR });
  for (let count = 0; count < 30; count += 1) span = zoomed(span, noon, 0.5, day);
  expect(span.to - span.from).toBe(MINUTE);
  for (let count = 0; count < 30; count += 1) span = zoomed(span, from + HOUR, 2, day);
  expect(span).toEqual(day);
});

test("a short span can be shown, and not more", () => {
  const short = { from, to: from + 10_000 };
  expect(zoomed(short, from, 0.5, short)).toEqual(short);
});

test("moving ends at the limit", () => {
  const hour = { from: from + HOUR, to: from + 2 * HOUR };
  expect(moved(hour, -5 * HOUR, day)).toEqual({ from, to: from + HOUR });
  expect(moved(hour, 50 * HOUR, day)).toEqual({ from: day.to - HOUR, to: day.to });
});

test("an instant is revealed by the shortest way", () => {
  const hour = { from: from + HOUR, to: from + 2 * HOUR };
  expect(revealing(hour, from + 1.5 * HOUR, day)).toBe(hour);
  expect(revealing(hour, from + 3 * HOUR, day)).toEqual({ from: from + 2 * HOUR, to: from + 3 * HOUR });
  expect(revealing(hour, from, day)).toEqual({ from, to: from + HOUR });
});

test("the axis has round times of the zone, also over a change of the clocks", () => {
  const local = { from: Date.parse("2026-10-24T22:00:00Z"), to: Date.parse("2026-10-25T23:00:00Z") };
  const { step, at } = ticks(local, 800, "Europe/Berlin");
  expect(step).toBe(3 * HOUR);
  expect(at.map(instantText)).toEqual([
    "2026-10-24T22:00:00Z",
    "2026-10-25T02:00:00Z",
    "2026-10-25T05:00:00Z",
    "2026-10-25T08:00:00Z",
    "2026-10-25T11:00:00Z",
    "2026-10-25T14:00:00Z",
    "2026-10-25T17:00:00Z",
    "2026-10-25T20:00:00Z",
    "2026-10-25T23:00:00Z",
  ]);
});

test("the axis goes down to seconds", () => {
  expect(ticks({ from, to: from + MINUTE }, 1000, "UTC").step).toBe(5000);
});

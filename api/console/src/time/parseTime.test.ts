import { describe, expect, test } from "vitest";
import { parseTime } from "./parseTime";
import { instantText } from "./spans";

const LISBON = "Europe/Lisbon";
// A Monday, the day after the clocks were set back.
const now = Date.parse("2026-10-26T15:00:00Z");

function read(text: string, zone = LISBON): string | null {
  const typed = parseTime(text, now, zone);
  if (typed === null) return null;
  return typed.kind === "moment" ? instantText(typed.at) : `${typed.from} ${typed.to}`;
}

describe("moments", () => {
  test.each([
    ["14:32", "2026-10-26T14:32:00Z"],
    ["14.32", "2026-10-26T14:32:00Z"],
    ["14h32", "2026-10-26T14:32:00Z"],
    ["8", "2026-10-26T08:00:00Z"],
    ["14:32:07", "2026-10-26T14:32:07Z"],
    ["16:00", "2026-10-25T16:00:00Z"],
    ["yesterday 8", "2026-10-25T08:00:00Z"],
    ["Yesterday  0:30", "2026-10-24T23:30:00Z"],
    ["ontem 8", "2026-10-25T08:00:00Z"],
    ["ayer 8", "2026-10-25T08:00:00Z"],
    ["gestern 8", "2026-10-25T08:00:00Z"],
    ["mié 9", "2026-10-21T08:00:00Z"],
    ["do 9", "2026-10-22T08:00:00Z"],
    ["mon 9", "2026-10-26T09:00:00Z"],
    ["sat 9", "2026-10-24T08:00:00Z"],
    ["2026-10-20 7:15", "2026-10-20T06:15:00Z"],
    ["24.12. 7:30", "2025-12-24T07:30:00Z"],
    ["20/10 7:30", "2026-10-20T06:30:00Z"],
    ["2026-10-20T07:15:00Z", "2026-10-20T07:15:00Z"],
    ["2026-10-20t07:15:00+02:00", "2026-10-20T05:15:00Z"],
    ["now", "2026-10-26T15:00:00Z"],
    ["now-2h", "2026-10-26T13:00:00Z"],
  ])("%s", (text, expected) => expect(read(text)).toBe(expected));
});

describe("spans", () => {
  test.each([
    ["-2h", "now-2h now"],
    ["yesterday", "now-1d/d now-1d/d"],
    ["ontem", "now-1d/d now-1d/d"],
    ["today", "now/d now"],
    ["last week", "now-1w/w now-1w/w"],
    ["semana pasada", "now-1w/w now-1w/w"],
    ["diese Woche", "now/w now"],
    ["now-1d/d", "now-1d/d now-1d/d"],
    ["mon 8-12", "2026-10-26T08:00:00Z 2026-10-26T12:00:00Z"],
    ["sáb 8–12:30", "2026-10-24T07:00:00Z 2026-10-24T11:30:00Z"],
    ["yesterday 22 - 2", "2026-10-25T22:00:00Z 2026-10-26T02:00:00Z"],
    ["8-24", "2026-10-26T08:00:00Z 2026-10-27T00:00:00Z"],
    ["2026-10-25", "2026-10-24T23:00:00Z 2026-10-26T00:00:00Z"],
  ])("%s", (text, expected) => expect(read(text)).toBe(expected));
});

test.each(["", "soon", "25", "14:60", "8-", "2026-02-30", "31/2", "yesterday x", "8-9-10", "now-1y", "-"])(
  "%s is no time",
  (text) => expect(read(text)).toBeNull(),
);

test("a time that clocks skip lies behind the change", () => {
  const spring = Date.parse("2026-03-29T12:00:00Z");
  const typed = parseTime("1:30", spring, LISBON);
  expect(typed).toEqual({ kind: "moment", at: Date.parse("2026-03-29T01:30:00Z") });
});

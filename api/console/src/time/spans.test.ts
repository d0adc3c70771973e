import { describe, expect, test } from "vitest";
import {
  fixedSpan,
  instantText,
  neighbor,
  parseInstant,
  resolveEnd,
  resolveSpan,
  spanOfQuery,
  wider,
} from "./spans";

const BERLIN = "Europe/Berlin";
const now = Date.parse("2026-10-26T09:30:00Z");
const iso = (instant: number | null) => (instant === null ? null : instantText(instant));

describe("an end of a span", () => {
  test.each([
    ["now", "from", "2026-10-26T09:30:00Z"],
    ["now-2h", "from", "2026-10-26T07:30:00Z"],
    ["now-90s", "from", "2026-10-26T09:28:30Z"],
    ["now+15m", "to", "2026-10-26T09:45:00Z"],
    ["now-1d/d", "from", "2026-10-24T22:00:00Z"],
    ["now-1d/d", "to", "2026-10-25T23:00:00Z"],
    ["now/d", "from", "2026-10-25T23:00:00Z"],
    ["now/w", "to", "2026-11-01T23:00:00Z"],
    ["now-1w/w", "from", "2026-10-18T22:00:00Z"],
    ["now/M", "from", "2026-09-30T22:00:00Z"],
    ["now-1M/M", "to", "2026-09-30T22:00:00Z"],
    ["now-2d", "from", "2026-10-24T08:30:00Z"],
  ] as const)("%s as %s", (text, end, expected) => {
    expect(iso(resolveEnd(text, now, BERLIN, end))).toBe(expected);
  });

  test.each([
    "",
    "yesterday",
    "now-",
    "now-1y",
    "2026-10-26T09:30:00",
    "2026-13-01T00:00:00Z",
    "now-999999h",
  ])("%s is none", (text) => expect(resolveEnd(text, now, BERLIN, "from")).toBeNull());
});

test("instants survive the address", () => {
  for (const text of ["2026-10-26T09:30:00Z", "2026-10-26T09:30:00.250Z"]) {
    expect(instantText(parseInstant(text) as number)).toBe(text);
  }
});

test("a span ends after it begins", () => {
  expect(resolveSpan({ from: "now", to: "now-1h" }, now, BERLIN)).toBeNull();
  expect(resolveSpan({ from: "now", to: "now" }, now, BERLIN)).toBeNull();
});

test("an address without a span has the usual one", () => {
  const usual = { from: "now/d", to: "now" };
  expect(spanOfQuery(new URLSearchParams("from=now-1h"), usual)).toBe(usual);
  expect(spanOfQuery(new URLSearchParams("from=now-1h&to=now"), usual)).toEqual({
    from: "now-1h",
    to: "now",
  });
});

test("a link to send on holds instants", () => {
  expect(fixedSpan({ from: "now-1d/d", to: "now-1d/d" }, now, BERLIN)).toEqual({
    from: "2026-10-24T22:00:00Z",
    to: "2026-10-25T23:00:00Z",
  });
});

test("the day before a day of 25 hours is a day", () => {
  const day = resolveSpan({ from: "now-1d/d", to: "now-1d/d" }, now, BERLIN);
  if (!day) throw new Error("no span");
  expect(neighbor(day, BERLIN, -1)).toEqual({ from: "2026-10-23T22:00:00Z", to: "2026-10-24T22:00:00Z" });
  expect(neighbor(day, BERLIN, 1)).toEqual({ from: "2026-10-25T23:00:00Z", to: "2026-10-26T23:00:00Z" });
});

test("a span of hours moves by its length and widens around its middle", () => {
  const span = { from: now - 7_200_000, to: now };
  expect(neighbor(span, BERLIN, -1)).toEqual({ from: "2026-10-26T05:30:00Z", to: "2026-10-26T07:30:00Z" });
  expect(wider(span)).toEqual({ from: "2026-10-26T06:30:00Z", to: "2026-10-26T10:30:00Z" });
});

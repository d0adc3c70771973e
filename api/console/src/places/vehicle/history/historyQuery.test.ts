import { describe, expect, test } from "vitest";
import { askedAt, askedSpan, askedText, askedView, withCursor } from "./historyQuery";
import { instantAfter, nextRate, RATES } from "./replay";

const BERLIN = "Europe/Berlin";
const now = Date.parse("2026-11-22T09:00:00Z");
const span = { from: Date.parse("2026-11-21T23:00:00Z"), to: now };

describe("an address", () => {
  test("without a span is of today, or of the day of its instant", () => {
    expect(askedText(new URLSearchParams(), BERLIN)).toEqual({ from: "now/d", to: "now" });
    expect(askedText(new URLSearchParams("at=2026-11-20T14:32:00Z"), BERLIN)).toEqual({
      from: "2026-11-19T23:00:00Z",
      to: "2026-11-20T23:00:00Z",
    });
    expect(askedSpan({ from: "now/d", to: "now" }, now, BERLIN)).toEqual(span);
    expect(askedSpan({ from: "now/d", to: "now" }, span.from, BERLIN)).toEqual({
      from: span.from - 60_000,
      to: span.from,
    });
    expect(askedSpan({ from: "x", to: "now" }, now, BERLIN)).toBeNull();
  });

  test("keeps the instant and what is zoomed to", () => {
    const view = { from: span.from + 3_600_000, to: span.from + 7_200_000 };
    const query = withCursor(new URLSearchParams("channel=2"), span.from + 4_000_400, view, span);
    expect(query.toString()).toContain("channel=2");
    expect(askedAt(query)).toBe(span.from + 4_000_000);
    expect(askedView(query, span)).toEqual(view);
    expect(withCursor(query, span.from, span, span).has("view")).toBe(false);
  });

  test.each(["", "x/y", "2026-11-22T00:00:00Z", "2026-11-25T00:00:00Z/2026-11-26T00:00:00Z"])(
    "with the view %s shows all",
    (view) => expect(askedView(new URLSearchParams({ view }), span)).toEqual(span),
  );
});

describe("a replay", () => {
  test("has speeds from a quarter to 64", () => {
    expect(nextRate(1, 1)).toBe(2);
    expect(nextRate(1, -1)).toBe(0.5);
    expect(nextRate(64, 1)).toBe(64);
    expect(nextRate(0.25, -1)).toBe(RATES[0]);
  });

  test("ends with the span", () => {
    expect(instantAfter(span.from, 1000, 16, span)).toBe(span.from + 16_000);
    expect(instantAfter(span.to - 5, 1000, 16, span)).toBe(span.to);
  });
});

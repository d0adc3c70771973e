import { describe, expect, test } from "vitest";
import { barsText, clockChange, dayBars, shortGaps, stateAt } from "./windows";

const at = (text: string) => Date.parse(text);

describe("days", () => {
  const zone = "Europe/Berlin";
  // Monday of the week in which clocks go back, on Sunday 25 October 2026.
  const monday = at("2026-10-18T22:00:00Z");

  test("have windows by the clock on the wall, over midnight and over a change of clocks", () => {
    const days = dayBars(
      [
        { from: at("2026-10-19T07:00:00Z"), to: at("2026-10-19T15:00:00Z") },
        { from: at("2026-10-20T20:00:00Z"), to: at("2026-10-21T04:00:00Z") },
        // From Saturday 22:00 to Sunday 06:00, nine hours.
        { from: at("2026-10-24T20:00:00Z"), to: at("2026-10-25T05:00:00Z") },
      ],
      monday,
      7,
      zone,
    );
    expect(days.map(({ bars }) => barsText(bars))).toEqual([
      "09:00–17:00",
      "22:00–24:00",
      "00:00–06:00",
      "",
      "",
      "22:00–24:00",
      "00:00–06:00",
    ]);
    expect(days.map(({ hours }) => hours)).toEqual([24, 24, 24, 24, 24, 24, 25]);
    // Seven of the 25 hours of that Sunday.
    expect(days[6]?.bars[0]?.to).toBeCloseTo(7 / 25);
    expect(days.map((day) => clockChange(day, zone))).toEqual([0, 0, 0, 0, 0, 0, -60]);
  });

  test("in spring one has 23 hours", () => {
    const [day] = dayBars([], at("2026-03-29T12:00:00Z"), 1, zone);
    expect(day?.hours).toBe(23);
    expect(day && clockChange(day, zone)).toBe(60);
  });

  test("within a window that begins before them and ends after them are open throughout", () => {
    const days = dayBars([{ from: monday - 1, to: monday + 8 * 86_400_000 }], monday, 7, zone);
    expect(days.map(({ bars }) => barsText(bars))).toEqual(Array(7).fill("00:00–24:00"));
  });
});

describe("windows", () => {
  const windows = [
    { from: 100, to: 200 },
    { from: 60_200, to: 61_000 },
    { from: 200_000, to: 300_000 },
  ];

  test("say whether it is open, and until when", () => {
    expect(stateAt(windows, 99)).toEqual({ open: false, until: 100 });
    expect(stateAt(windows, 100)).toEqual({ open: true, until: 200 });
    expect(stateAt(windows, 200)).toEqual({ open: false, until: 60_200 });
    expect(stateAt(windows, 300_000)).toEqual({ open: false, until: null });
  });

  test("have gaps that are seldom meant", () => {
    expect(shortGaps(windows)).toEqual([{ from: 200, to: 60_200 }]);
  });
});

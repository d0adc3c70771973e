import { describe, expect, test } from "vitest";
import { addDays, instantOf, isZone, offsetAt, startOfDay, startOfMonth, startOfWeek, wallOf } from "./zones";

const at = (text: string) => Date.parse(text);
const wall = (year: number, month: number, day: number, hour = 0, minute = 0) => ({
  year,
  month,
  day,
  hour,
  minute,
  second: 0,
});
const iso = (instant: number) => new Date(instant).toISOString();

describe("an instant on the wall", () => {
  test("of zones east and west", () => {
    expect(wallOf(at("2026-07-01T22:30:00Z"), "Europe/Berlin")).toEqual(wall(2026, 7, 2, 0, 30));
    expect(wallOf(at("2026-07-01T02:30:00Z"), "America/Sao_Paulo")).toEqual(wall(2026, 6, 30, 23, 30));
    expect(offsetAt(at("2026-01-01T00:00:00Z"), "Asia/Kathmandu")).toBe(5.75 * 3_600_000);
  });

  test("milliseconds do not count as an offset", () => {
    expect(offsetAt(at("2026-01-01T00:00:00.750Z"), "UTC")).toBe(0);
    expect(offsetAt(-250, "UTC")).toBe(0);
  });

  test("unknown zones are known as such", () => {
    expect(isZone("Europe/Lisbon")).toBe(true);
    expect(isZone("Mars/Olympus")).toBe(false);
  });
});

describe("around a change of the clocks", () => {
  const berlin = "Europe/Berlin";

  test("a time shown twice has two instants", () => {
    expect(iso(instantOf(wall(2026, 10, 25, 2, 30), berlin))).toBe("2026-10-25T00:30:00.000Z");
    expect(iso(instantOf(wall(2026, 10, 25, 2, 30), berlin, "later"))).toBe("2026-10-25T01:30:00.000Z");
  });

  test("a skipped time lies as far behind the change", () => {
    expect(wallOf(instantOf(wall(2026, 3, 29, 2, 30), berlin), berlin)).toEqual(wall(2026, 3, 29, 3, 30));
    expect(wallOf(instantOf(wall(2026, 3, 29, 2, 30), berlin, "later"), berlin).hour).toBe(3);
  });

  test("days have 23 and 25 hours", () => {
    const length = (text: string, zone: string) =>
      (startOfDay(at(text), zone, 1) - startOfDay(at(text), zone)) / 3_600_000;
    expect(length("2026-03-29T12:00:00Z", berlin)).toBe(23);
    expect(length("2026-10-25T12:00:00Z", berlin)).toBe(25);
    expect(length("2026-10-26T12:00:00Z", berlin)).toBe(24);
    // Lord Howe Island moves its clocks by half an hour.
    expect(length("2026-04-05T01:00:00Z", "Australia/Lord_Howe")).toBe(24.5);
  });

  test("a day without a midnight begins at one", () => {
    const begin = startOfDay(at("2018-11-04T15:00:00Z"), "America/Sao_Paulo");
    expect(wallOf(begin, "America/Sao_Paulo")).toEqual(wall(2018, 11, 4, 1));
  });

  test("the same time tomorrow is not always 24 hours away", () => {
    const noon = at("2026-03-28T11:00:00.500Z");
    expect(iso(addDays(noon, berlin, 1))).toBe("2026-03-29T10:00:00.500Z");
  });

  test("each hour of a year returns from the wall, or is the other one of two", () => {
    const lost: string[] = [];
    for (const zone of [berlin, "Australia/Lord_Howe"]) {
      for (
        let instant = at("2026-01-01T00:00:00Z");
        instant < at("2027-01-01T00:00:00Z");
        instant += 3_600_000
      ) {
        const shown = wallOf(instant, zone);
        if (instantOf(shown, zone) !== instant && instantOf(shown, zone, "later") !== instant) {
          lost.push(`${iso(instant)} ${zone}`);
        }
      }
    }
    expect(lost).toEqual([]);
  });
});

test("weeks begin on Monday, months on the first, over the end of a year too", () => {
  const zone = "Europe/Lisbon";
  expect(iso(startOfWeek(at("2026-11-22T14:00:00Z"), zone))).toBe("2026-11-16T00:00:00.000Z");
  expect(iso(startOfWeek(at("2026-11-23T00:00:00Z"), zone, -1))).toBe("2026-11-16T00:00:00.000Z");
  expect(iso(startOfMonth(at("2026-12-31T23:00:00Z"), zone, 1))).toBe("2027-01-01T00:00:00.000Z");
});

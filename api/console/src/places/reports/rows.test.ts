import { expect, test } from "vitest";
import type { TripItem } from "../../api/types";
import { change, changeText } from "./cells";
import { type Column, type Item, kindOf } from "./kinds";
import { barsOf, comparedOf, groupsOf, type Row } from "./rows";

const HOUR_MS = 3_600_000;
const trips = kindOf("trips");
const column = (key: string) => trips.columns.find((each) => each.key === key) as Column<Item>;
const total = (key: string, items: readonly Item[]) => column(key).total?.(items);

function rowsOf(
  ...given: [deviceId: number, startTime: string, kilometers: number, hours: number, driver?: string][]
) {
  return given.map(
    ([deviceId, startTime, kilometers, hours, driver], index): Row => ({
      index,
      item: {
        deviceId,
        startTime,
        endTime: startTime,
        distance: kilometers * 1000,
        duration: hours * HOUR_MS,
        maxSpeed: 10 * kilometers,
        driverName: driver ?? null,
        driverUniqueId: null,
      } as TripItem,
    }),
  );
}

const rows = rowsOf(
  [1, "2026-05-01T21:30:00Z", 10, 1, "Ann"],
  [1, "2026-05-01T22:30:00Z", 30, 1],
  [2, "2026-05-01T08:00:00Z", 5, 0.5, "Ann"],
);

test("rows belong to the local day in which they begin", () => {
  const days = groupsOf(trips, rows, "day", "Europe/Berlin");
  expect([...days].map(([day, items]) => [new Date(Number(day)).toISOString(), items.length])).toEqual([
    ["2026-04-30T22:00:00.000Z", 2],
    ["2026-05-01T22:00:00.000Z", 1],
  ]);
});

test("rows belong to vehicles, and to drivers or nobody", () => {
  expect([...groupsOf(trips, rows, "device", "UTC")].map(([key, { length }]) => [key, length])).toEqual([
    [1, 2],
    [2, 1],
  ]);
  expect([...groupsOf(trips, rows, "driver", "UTC").keys()]).toEqual(["Ann", ""]);
});

test("sums add up, top speeds are the highest, and mean speeds are distance by time", () => {
  const items = rows.map(({ item }) => item);
  expect(total("distance", items)).toBe(45_000);
  expect(total("maxSpeed", items)).toBe(300);
  expect(total("rows", items)).toBe(3);
  expect(total("averageSpeed", items)).toBeCloseTo(45 / 1.852 / 2.5);
  expect(total("averageSpeed", [])).toBeNull();
});

test("the bars of vehicles begin with the highest, those of days with the first", () => {
  const distance = column("distance");
  expect(barsOf(trips, rows, distance, "device", "UTC").map(({ key }) => key)).toEqual([1, 2]);
  expect(
    barsOf(trips, rows.toReversed(), distance, "day", "Europe/Berlin").map(({ value }) => value),
  ).toEqual([15_000, 30_000]);
});

test("vehicles of either span are compared", () => {
  const before = rowsOf([2, "2026-04-01T08:00:00Z", 10, 1], [3, "2026-04-01T08:00:00Z", 1, 1]);
  const found = comparedOf(trips, rows, before, "device");
  expect(found.map(({ key, now, before: those }) => [key, now.length, those.length])).toEqual([
    [1, 2, 0],
    [2, 1, 1],
    [3, 0, 1],
  ]);
});

test("changes are in percent of what was before", () => {
  const look = { language: "en" } as Parameters<typeof changeText>[1];
  expect(change(15, 10)).toBe(50);
  expect(change(15, 0)).toBeNull();
  expect(changeText(50, look)).toBe("+50 %");
  expect(changeText(-0.2, look)).toBe("0 %");
  expect(changeText(null, look)).toBe("–");
});

import { expect, test } from "vitest";
import { setLanguage } from "../i18n/translate";
import { type Column, itemsOf, keysBetween, nextSort, sorted, toggled } from "./tableItems";

interface Trip {
  id: number;
  vehicle: string;
  km: number | null;
}

const trips: readonly Trip[] = [
  { id: 1, vehicle: "Van 10", km: 12 },
  { id: 2, vehicle: "Van 2", km: null },
  { id: 3, vehicle: "Van 10", km: 3 },
  { id: 4, vehicle: "van 2", km: 3 },
];
const columns: readonly Column<Trip>[] = [
  { key: "vehicle", label: "Vehicle", value: (trip) => trip.vehicle },
  { key: "km", label: "Distance", value: (trip) => trip.km, numeric: true },
];
const ids = (rows: readonly Trip[]) => rows.map(({ id }) => id);

test("rows are sorted as names and as numbers, equal ones as they came, those without a value last", async () => {
  await setLanguage("en");
  expect(ids(sorted(trips, columns, { key: "vehicle", descending: false }))).toEqual([2, 4, 1, 3]);
  expect(ids(sorted(trips, columns, { key: "km", descending: false }))).toEqual([3, 4, 1, 2]);
  expect(ids(sorted(trips, columns, { key: "km", descending: true }))).toEqual([1, 3, 4, 2]);
  expect(sorted(trips, columns, null)).toBe(trips);
  expect(sorted(trips, columns, { key: "gone", descending: true })).toBe(trips);
});

test("a column is sorted upwards, then downwards, another one upwards again", () => {
  const first = nextSort(null, "km");
  expect(first).toEqual({ key: "km", descending: false });
  expect(nextSort(first, "km")).toEqual({ key: "km", descending: true });
  expect(nextSort(nextSort(first, "km"), "vehicle")).toEqual({ key: "vehicle", descending: false });
});

test("rows stand below the heading of their group unless it is closed, in the order of the groups' first rows", () => {
  const grouping = { of: (trip: Trip) => trip.vehicle, label: (key: string | number) => key };
  const upwards = (some: readonly Trip[]) => sorted(some, columns, { key: "km", descending: false });
  const lines = (closed: readonly string[]) =>
    itemsOf(trips, ({ id }) => id, grouping, upwards, new Set(closed)).map(({ key }) => key);
  expect(lines([])).toEqual(["Van 10", 3, 1, "Van 2", 2, "van 2", 4]);
  expect(lines(["Van 10", "van 2"])).toEqual(["Van 10", "Van 2", 2, "van 2"]);
  const [heading] = itemsOf(trips, ({ id }) => id, grouping, upwards, new Set(["Van 10"]));
  expect(heading?.kind === "group" && ids(heading.rows)).toEqual([1, 3]);
});

test("a range has the rows between two lines and no headings, several keys become selected unless all are", () => {
  const grouping = { of: (trip: Trip) => trip.vehicle, label: (key: string | number) => key };
  const items = itemsOf(
    trips,
    ({ id }) => id,
    grouping,
    (some) => some,
    new Set(),
  );
  expect(keysBetween(items, 4, 2)).toEqual([3, 2]);
  expect([...toggled(new Set([1]), [1, 2])]).toEqual([1, 2]);
  expect([...toggled(new Set([1, 2, 3]), [1, 2])]).toEqual([3]);
});

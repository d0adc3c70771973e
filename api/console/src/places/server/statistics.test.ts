import { expect, test } from "vitest";
import type { Statistics } from "../../api/types";
import { statisticsOf } from "../../testing/records";
import { chartsOf, protocolsOf } from "./statistics";

const monthOf = (at: number) => new Date(at).toISOString().slice(0, 7);
const daysOf = (count: number, fields: Partial<Statistics>) =>
  [...Array(count).keys()].map((day) =>
    statisticsOf({ captureTime: new Date(Date.UTC(2026, 0, 1 + day, 12)).toISOString(), ...fields }),
  );

test("figures that are always 0 have no chart, and counts of distinct people have no sum", () => {
  const charts = chartsOf(daysOf(3, { requests: 2, activeUsers: 1 }), monthOf);
  expect(charts.map(({ figure, total, columns }) => [figure, total, columns.length])).toEqual([
    ["activeUsers", null, 3],
    ["requests", 6, 3],
  ]);
});

test("many days become months: their sum, or the most on a day", () => {
  const charts = chartsOf(daysOf(100, { requests: 2, activeUsers: 3 }), monthOf);
  expect(charts.map(({ columns }) => columns.map(({ value }) => value))).toEqual([
    [3, 3, 3, 3],
    [62, 56, 62, 20],
  ]);
  expect(charts.every(({ isByMonth }) => isByMonth)).toBe(true);
});

test("protocols are taken from the day with most vehicles", () => {
  const days = [
    statisticsOf({ protocols: { gt06: 2, jt808: 5 } }),
    statisticsOf({ protocols: { gt06: 9 } }),
    statisticsOf({ protocols: null }),
  ];
  expect(protocolsOf(days)).toEqual([
    ["gt06", 9],
    ["jt808", 5],
  ]);
});

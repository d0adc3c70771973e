import { expect, test } from "vitest";
import type { Recording } from "../../api/types";
import { estimate, lengthOf } from "./estimate";

const T = Date.parse("2026-05-01T14:00:00Z");
const MINUTE = 60_000;

function recording(channel: number, from: number, to: number, fields: Partial<Recording> = {}): Recording {
  const time = (minutes: number) => new Date(T + minutes * MINUTE).toISOString();
  return {
    channel,
    startTime: time(from),
    endTime: time(to),
    alarmFlag: 0,
    type: 0,
    streamType: 1,
    memoryType: 1,
    size: 9_000_000,
    ...fields,
  };
}

const span = { from: T + 5 * MINUTE, to: T + 20 * MINUTE };

test("bytes are those of the part of each file that is fetched", () => {
  const files = [recording(1, 0, 15), recording(1, 15, 30), recording(2, 0, 30)];
  expect(estimate(files, 1, span, true)).toEqual({ bytes: 9_000_000, covered: 15 * MINUTE });
});

test("files of the sub-stream are not fetched and cover all the same", () => {
  const files = [recording(1, 0, 15), recording(1, 0, 15, { streamType: 2, size: 1_000_000 })];
  expect(estimate(files, 1, span, true)).toEqual({ bytes: 6_000_000, covered: 10 * MINUTE });
});

test("what the vehicle did not say is not guessed", () => {
  expect(estimate([recording(1, 0, 30, { size: 0 })], 1, span, true).bytes).toBe(null);
  expect(estimate([], 1, span, false)).toEqual({ bytes: null, covered: null });
  expect(estimate([], 1, span, true)).toEqual({ bytes: null, covered: 0 });
});

test("overlaps count once", () => {
  expect(
    lengthOf([
      { from: 5, to: 9 },
      { from: 0, to: 6 },
      { from: 20, to: 21 },
      { from: 1, to: 2 },
    ]),
  ).toBe(10);
});

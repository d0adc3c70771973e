import { expect, test } from "vitest";
import type { ScheduledCommandRun } from "../../api/types";
import { edgesOf, nextFiring } from "./edges";
import { gridOf } from "./runs";

const at = (text: string) => Date.parse(`2026-10-24T${text}Z`);
const span = { from: at("00:00"), to: at("23:00") };
const windows = [
  { from: at("00:00"), to: at("04:00") },
  { from: at("08:00"), to: at("10:00") },
  { from: at("20:00"), to: at("23:00") },
];
const STEP = [{ commandId: 1, delaySeconds: 0 }];

test("ends of the span are no edges of a calendar", () => {
  expect(edgesOf(windows, span)).toEqual([
    { at: at("04:00"), phase: "end" },
    { at: at("08:00"), phase: "start" },
    { at: at("10:00"), phase: "end" },
    { at: at("20:00"), phase: "start" },
  ]);
});

test("a schedule fires next at an edge that it has steps for, if it is active", () => {
  const edges = edgesOf(windows, span);
  const both = { active: true, onStart: STEP, onEnd: STEP };
  expect(nextFiring(both, edges, at("04:00"))).toEqual({ at: at("08:00"), phase: "start" });
  expect(nextFiring({ ...both, onEnd: [] }, edges, at("08:00"))).toEqual({ at: at("20:00"), phase: "start" });
  expect(nextFiring({ ...both, active: false }, edges, at("04:00"))).toBeNull();
  expect(nextFiring(both, edges, at("21:00"))).toBeNull();
});

function run(id: number, deviceId: number, time: string, phase = "start"): ScheduledCommandRun {
  return {
    id,
    scheduledCommandId: 1,
    phase,
    deviceId,
    commandId: 1,
    time: `2026-10-24T${time}Z`,
    status: "sent",
    reason: null,
    detail: null,
  };
}

test("runs of a phase within a minute stand together, the newest first", () => {
  const runs = [
    run(6, 2, "12:00:00", "manual"),
    run(5, 1, "10:00:00", "end"),
    run(4, 1, "08:30:00"),
    run(3, 2, "08:00:40"),
    run(1, 1, "08:00:00"),
    run(2, 1, "08:00:00"),
  ];
  const grid = gridOf(runs, 3);
  expect(grid.columns).toEqual([
    { phase: "manual", at: at("12:00") },
    { phase: "end", at: at("10:00") },
    { phase: "start", at: at("08:30") },
  ]);
  expect(grid.more).toBe(1);
  expect(grid.rows.map(({ deviceId, cells }) => [deviceId, cells.map((each) => each.length)])).toEqual([
    [2, [1, 0, 0]],
    [1, [0, 1, 1]],
  ]);
  const all = gridOf(runs, 10);
  expect(all.rows.map(({ cells }) => cells.at(-1)?.map(({ id }) => id))).toEqual([[3], [1, 2]]);
});

/** The runs of a schedule as a grid: vehicles, and the minutes in which anything was to be sent to them. Pure. */

import type { ScheduledCommandRun } from "../../api/types";

export interface Column {
  phase: string;
  /** The instant of its first run, in milliseconds since 1970. */
  at: number;
}

export interface RunGrid {
  /** The newest first. */
  columns: readonly Column[];
  rows: readonly { deviceId: number; cells: readonly (readonly ScheduledCommandRun[])[] }[];
  /** Columns that are not shown. */
  more: number;
}

/** Runs of one phase within this time stand in one column: a firing reaches its vehicles one after the other. */
const TOGETHER_MS = 60_000;

/** The grid of runs in any order; columns beyond `most` are left out, and with them vehicles that have no other. */
export function gridOf(runs: readonly ScheduledCommandRun[], most: number): RunGrid {
  const sorted = [...runs].sort(
    (one, other) => Date.parse(one.time) - Date.parse(other.time) || one.id - other.id,
  );
  const columns: { phase: string; at: number; runs: ScheduledCommandRun[] }[] = [];
  const latest = new Map<string, (typeof columns)[number]>();
  for (const run of sorted) {
    const at = Date.parse(run.time);
    let column = latest.get(run.phase);
    if (!column || at - column.at > TOGETHER_MS) {
      column = { phase: run.phase, at, runs: [] };
      latest.set(run.phase, column);
      columns.push(column);
    }
    column.runs.push(run);
  }
  const shown = columns.reverse().slice(0, most);
  const ids = [...new Set(shown.flatMap((column) => column.runs.map(({ deviceId }) => deviceId)))];
  return {
    columns: shown.map(({ phase, at }) => ({ phase, at })),
    rows: ids.map((deviceId) => ({
      deviceId,
      cells: shown.map((column) => column.runs.filter((run) => run.deviceId === deviceId)),
    })),
    more: columns.length - shown.length,
  };
}

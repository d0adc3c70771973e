/** When a schedule fires, of the windows of its calendar, and what it sends then. Pure. */

import type { ScheduledCommand } from "../../api/types";
import type { Window } from "../../calendars/windows";

export type Phase = "start" | "end";

export interface Edge {
  at: number;
  phase: Phase;
}

/** The edges within a span that windows were asked for, in order; windows are cut off at its ends. */
export function edgesOf(windows: readonly Window[], span: Window): readonly Edge[] {
  return windows.flatMap(({ from, to }) => [
    ...(from > span.from ? [{ at: from, phase: "start" as const }] : []),
    ...(to < span.to ? [{ at: to, phase: "end" as const }] : []),
  ]);
}

type Sending = Pick<ScheduledCommand, "active" | "onStart" | "onEnd">;

/** The edges at which a schedule sends anything. */
export function firingsOf(schedule: Sending, edges: readonly Edge[]): readonly Edge[] {
  return edges.filter(({ phase }) => stepsOf(schedule, phase).length > 0);
}

/** What it sends at such an edge. */
export function stepsOf({ onStart, onEnd }: Pick<Sending, "onStart" | "onEnd">, phase: Phase) {
  return phase === "start" ? onStart : onEnd;
}

/** When it fires next, unless it is switched off. */
export function nextFiring(schedule: Sending, edges: readonly Edge[], now: number): Edge | null {
  if (!schedule.active) return null;
  return firingsOf(schedule, edges).find(({ at }) => at > now) ?? null;
}

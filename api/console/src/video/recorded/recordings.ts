/** What vehicles say they have recorded. Asking wakes the vehicle, so a person asks; answers are kept for the session. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { getDated, postDated } from "../../api/call";
import type { Recording } from "../../api/types";
import { instantText, type Span } from "../../time/spans";

export interface Listed {
  /** `unknown`: not asked in this session; `items` may hold what the vehicle said before. */
  phase: "unknown" | "asking" | "known" | "silent" | "refused";
  /** When it was asked, in milliseconds since 1970. */
  askedAt: number;
  items: readonly Recording[];
  problem: unknown;
}

/** The answer comes out of band, so it is looked for so often, in seconds. */
const PATIENCE = 30;
const KEPT = 60;
const NOTHING: Listed = { phase: "unknown", askedAt: 0, items: [], problem: null };

const kept = new Map<string, Signal<Listed>>();
/** One question of a vehicle at a time, because the server keeps its latest answer only. */
const asking = new Map<number, Promise<void>>();

/** What a vehicle has of a span, such as a day. */
export function recordingsOf(deviceId: number, span: Span): ReadonlySignal<Listed> {
  return listOf(deviceId, span);
}

function listOf(deviceId: number, { from, to }: Span): Signal<Listed> {
  const key = `${deviceId} ${from} ${to}`;
  let found = kept.get(key);
  if (!found) {
    found = signal(NOTHING);
    kept.set(key, found);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? "");
  }
  return found;
}

/** Read what the vehicle said last, which disturbs nobody; it may be about another day. */
export async function readRecordings(deviceId: number, span: Span, abort: AbortSignal): Promise<void> {
  const list = listOf(deviceId, span);
  if (list.peek().phase !== "unknown") return;
  const { value } = await getDated<Recording[]>(`/recordings/${deviceId}`, undefined, abort);
  if (list.peek().phase === "unknown") list.value = { ...NOTHING, items: within(value, span) };
}

/** Ask the vehicle what it has of a span. */
export async function askRecordings(deviceId: number, span: Span): Promise<void> {
  const list = listOf(deviceId, span);
  if (list.peek().phase === "asking") return;
  list.value = { ...list.peek(), phase: "asking", askedAt: Date.now(), problem: null };
  const before = asking.get(deviceId) ?? Promise.resolve();
  const mine = before.then(() => ask(deviceId, span, list));
  asking.set(deviceId, mine);
  await mine;
  if (asking.get(deviceId) === mine) asking.delete(deviceId);
}

async function ask(deviceId: number, span: Span, list: Signal<Listed>): Promise<void> {
  try {
    const attributes = {
      channel: 0,
      startTime: instantText(span.from),
      endTime: instantText(Math.min(span.to, Date.now())),
      noQueue: true,
    };
    const { date } = await postDated("/commands/send", { deviceId, type: "videoPlaybackList", attributes });
    for (let second = 0; second < PATIENCE; second += 1) {
      const { value, modified } = await getDated<Recording[]>(`/recordings/${deviceId}`);
      if (modified !== null && modified >= date) {
        list.value = { ...list.peek(), phase: "known", items: within(value, span) };
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    list.value = { ...list.peek(), phase: "silent" };
  } catch (problem) {
    list.value = { ...list.peek(), phase: "refused", problem };
  }
}

function within(recordings: readonly Recording[], { from, to }: Span): readonly Recording[] {
  return recordings.filter((each) => Date.parse(each.endTime) > from && Date.parse(each.startTime) < to);
}

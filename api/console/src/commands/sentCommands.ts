/** The commands that this page has sent, and what became of each. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { post } from "../api/call";
import { listen } from "../api/socket";
import type { Command, CommandBody, Position, QueuedCommand } from "../api/types";
import { positionNow } from "../state/fleet";

/** `kept`: until the device comes; `gone`: no longer in the queue, it was sent or given up. */
export type Outcome = "sending" | "sent" | "kept" | "gone" | "cancelled" | "refused";

export interface Sent {
  id: number;
  deviceId: number;
  /** A type, or the description of a saved command. */
  name: string;
  /** When it was asked for, in milliseconds since 1970. */
  at: number;
  outcome: Outcome;
  /** It went by text message, in place of the device's connection. */
  byText: boolean;
  /** Its number in the queue; 0 if it is in none. */
  queuedId: number;
  /** What was thrown where it was refused. */
  problem: unknown;
  replies: readonly { at: number; text: string }[];
}

const MOST = 100;
const log = signal<readonly Sent[]>([]);
/** The newest first. */
export const sentCommands: ReadonlySignal<readonly Sent[]> = log;
/** The latest position of a device whose answer was taken. */
const answered = new Map<number, number>();
let last = 0;
let listening = false;

/** Send a command to a device; the log says how it went. */
export async function sendCommand(deviceId: number, name: string, body: CommandBody): Promise<void> {
  if (!listening) listen(({ positions }) => positions?.forEach(takeReply));
  listening = true;
  last += 1;
  const id = last;
  answered.set(deviceId, Math.max(answered.get(deviceId) ?? 0, positionNow(deviceId)?.id ?? 0));
  const sent: Sent = {
    id,
    deviceId,
    name,
    at: Date.now(),
    outcome: "sending",
    byText: false,
    queuedId: 0,
    problem: null,
    replies: [],
  };
  log.value = [sent, ...log.peek()].slice(0, MOST);
  try {
    const answer = await post<Command | QueuedCommand>("/commands/send", { ...body, deviceId });
    // Only a command that was not queued has a description.
    if ("description" in answer) change(id, { outcome: "sent", byText: answer.textChannel });
    else change(id, { outcome: "kept", queuedId: answer.id });
  } catch (problem) {
    change(id, { outcome: "refused", problem });
  }
}

/** Say that a kept command was cancelled. */
export function noteCancelled(queuedId: number): void {
  for (const each of log.peek()) if (each.queuedId === queuedId) change(each.id, { outcome: "cancelled" });
}

/** Compare with the queue of a device, as it was asked for at an instant: what is not in it any more has left it. */
export function noteQueue(deviceId: number, ids: ReadonlySet<number>, askedAt: number): void {
  for (const each of log.peek()) {
    if (each.deviceId !== deviceId || each.outcome !== "kept" || each.at >= askedAt) continue;
    if (!ids.has(each.queuedId)) change(each.id, { outcome: "gone" });
  }
}

/** The entry that a reply belongs to: devices answer in order, most of them once. */
export function repliedTo(entries: readonly Sent[], deviceId: number): Sent | undefined {
  const mine = entries.filter(
    (each) => each.deviceId === deviceId && each.outcome !== "refused" && !each.byText,
  );
  const waiting = mine.filter((each) => each.replies.length === 0 && each.outcome !== "cancelled");
  // What is still said to be kept may have been sent a moment ago.
  const handed = waiting.filter((each) => each.outcome !== "kept");
  return handed.at(-1) ?? waiting.at(-1) ?? mine[0];
}

/** An answer comes as a position with the attribute `result` (docs/decisions/0257). */
function takeReply(position: Position): void {
  const text = position.attributes.result;
  if (typeof text !== "string" || position.id <= (answered.get(position.deviceId) ?? 0)) return;
  const entry = repliedTo(log.peek(), position.deviceId);
  if (!entry) return;
  answered.set(position.deviceId, position.id);
  const replies = [...entry.replies, { at: Date.parse(position.serverTime), text }];
  change(entry.id, { replies, ...(entry.outcome === "kept" && { outcome: "gone" }) });
}

function change(id: number, changes: Partial<Sent>): void {
  log.value = log.peek().map((each) => (each.id === id ? { ...each, ...changes } : each));
}

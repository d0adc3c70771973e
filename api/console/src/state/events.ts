/** Events that arrived by the socket since the page began, the newest first. */

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Message } from "../api/socket";
import type { Event } from "../api/types";

/** Most events that are kept. */
export const MOST_EVENTS = 500;

const kept = signal<readonly Event[]>([]);
/** The newest first, each once. */
export const recentEvents: ReadonlySignal<readonly Event[]> = kept;

/** Take over the events of a message. */
export function applyEvents(message: Message): void {
  if (!message.events?.length) return;
  const added = new Map(message.events.map((event) => [event.id, event]));
  const rest = kept.peek().filter((event) => !added.has(event.id));
  kept.value = [...[...added.values()].reverse(), ...rest].slice(0, MOST_EVENTS);
}

/** Forget all. */
export function clearEvents(): void {
  kept.value = [];
}

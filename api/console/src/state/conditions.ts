/** What is wrong with the server; it tells administrators. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Condition, listen, onOpen } from "../api/socket";

const present = signal<readonly Condition[]>([]);
/** The oldest first; empty while nothing is wrong, and for who is no administrator. */
export const conditions: ReadonlySignal<readonly Condition[]> = present;

/** Follow the socket; a new one says by itself what is wrong. */
export function followConditions(): void {
  onOpen(() => {
    present.value = [];
  });
  listen((message) => {
    if (message.conditions) present.value = message.conditions;
  });
}

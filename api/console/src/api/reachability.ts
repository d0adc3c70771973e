/** Whether the server can be reached. */

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { connection } from "./socket";

const answers = signal(true);

/**
 * False while the socket is lost and the last request had no answer. Where only the socket fails, such as behind a
 * proxy without WebSockets, the server is still reached.
 */
export const reachable: ReadonlySignal<boolean> = computed(
  () => connection.value !== "lost" || answers.value,
);

/** Note whether a request was answered by the server. */
export function noteAnswer(there: boolean): void {
  answers.value = there;
}

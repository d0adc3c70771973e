/** Whether live pictures have a map beside them, kept in this browser. */

import { type ReadonlySignal, signal } from "@preact/signals";

const KEY = "motorpool.liveMap";

const shown = signal(localStorage.getItem(KEY) !== "none");
export const mapShown: ReadonlySignal<boolean> = shown;

export function toggleMap(): void {
  shown.value = !shown.peek();
  if (shown.peek()) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "none");
}

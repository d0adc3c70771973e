/** How much room the list of vehicles takes, kept for this window. */

import { type ReadonlySignal, signal } from "@preact/signals";

/** `wide` is the larger sheet of a phone; elsewhere it is as `open`. */
export type ListSize = "folded" | "open" | "wide";
const KEY = "motorpool.fleetList";

const size = signal(stored());
export const listSize: ReadonlySignal<ListSize> = size;

/** Fold or open the list. */
export function setListSize(wanted: ListSize): void {
  size.value = wanted;
  sessionStorage.setItem(KEY, wanted);
}

function stored(): ListSize {
  const found = sessionStorage.getItem(KEY);
  return found === "folded" || found === "wide" ? found : "open";
}

/** What of the zones the reader wants to see on maps, kept in this browser. */

import { type ReadonlySignal, signal } from "@preact/signals";
import type { ZonesShown } from "../../map/zones";

const KEY = "motorpool.zones";
const NEXT = { all: "shapes", shapes: "none", none: "all" } as const;

const shown = signal(stored());
export const zonesShown: ReadonlySignal<ZonesShown> = shown;

/** All, then shapes without names, then none. */
export function showNextZones(): void {
  shown.value = NEXT[shown.peek()];
  localStorage.setItem(KEY, shown.peek());
}

function stored(): ZonesShown {
  const found = localStorage.getItem(KEY);
  return found === "shapes" || found === "none" ? found : "all";
}

/** Whether a map is shown beside live pictures: of one vehicle, and of a wall. Kept in this browser. */

import { type ReadonlySignal, signal } from "@preact/signals";

interface MapShown {
  shown: ReadonlySignal<boolean>;
  toggle: () => void;
}

function kept(key: string, byDefault: boolean): MapShown {
  const stored = localStorage.getItem(key);
  const shown = signal(stored === null ? byDefault : stored !== "none");
  function toggle(): void {
    shown.value = !shown.peek();
    localStorage.setItem(key, shown.peek() ? "shown" : "none");
  }
  return { shown, toggle };
}

export const vehicleMap = kept("motorpool.liveMap", true);
/** A wall is full of pictures: it has a map for those who want one. */
export const wallMap = kept("motorpool.wallMap", false);

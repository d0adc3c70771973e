/** How much room the list of vehicles takes, kept for this window. */

import { batch, type ReadonlySignal, signal } from "@preact/signals";

/** `wide` is the largest sheet of a phone; elsewhere it is as `open`. `folded` is a phone's smallest. */
export type ListSize = "folded" | "open" | "wide";
const KEY = "motorpool.fleetList";

const size = signal(stored());
const drawer = signal(true);
export const listSize: ReadonlySignal<ListSize> = size;
/** Whether the list lies over the map of a window that is too narrow for a column of its own. */
export const drawerOpen: ReadonlySignal<boolean> = drawer;

/** Change the size, as the sheet of a phone does. */
export function setListSize(wanted: ListSize): void {
  size.value = wanted;
  sessionStorage.setItem(KEY, wanted);
}

/** Open or close the drawer alone. */
export function setDrawer(open: boolean): void {
  drawer.value = open;
}

/** Show the list, whatever the width of the window. */
export function showList(): void {
  batch(() => {
    if (size.peek() === "folded") setListSize("open");
    setDrawer(true);
  });
}

/** Fold the list away, whatever the width of the window. */
export function foldList(): void {
  batch(() => {
    setListSize("folded");
    setDrawer(false);
  });
}

function stored(): ListSize {
  const found = sessionStorage.getItem(KEY);
  return found === "folded" || found === "wide" ? found : "open";
}

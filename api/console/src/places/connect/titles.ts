import type { Tracker } from "./trackers";

/** How people call a protocol. */
export function titleOf(trackers: readonly Tracker[], name: string): string {
  return trackers.find((each) => each.name === name)?.title ?? name;
}

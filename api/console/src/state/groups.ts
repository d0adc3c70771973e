/** The groups of devices with their attributes, for what devices inherit; read when they are first needed. */

import { signal } from "@preact/signals";
import type { Group } from "../api/types";
import { read } from "./responseCache";

const AGAIN_MS = 60_000;

const groups = signal<ReadonlyMap<number, Group>>(new Map());
let readAt = Number.NEGATIVE_INFINITY;

/** A group and those above it, as far as the reader sees them; followed as they become known. */
export function groupsAbove(id: number): readonly Group[] {
  if (id === 0) return [];
  const now = Date.now();
  if (now - readAt > AGAIN_MS) {
    readAt = now;
    // What cannot be read now is read again later.
    read<Group[]>("/groups").then(
      (found) => {
        groups.value = new Map(found.map((each) => [each.id, each]));
      },
      () => {},
    );
  }
  const above: Group[] = [];
  for (let next = groups.value.get(id); next && !above.includes(next); next = groups.value.get(next.groupId))
    above.push(next);
  return above;
}

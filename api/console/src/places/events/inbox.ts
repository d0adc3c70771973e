/** What of the events that wait a list shows, and which of its rows are selected. Pure. */

import type { Group, ListedEvent } from "../../api/types";
import { groupsBelow } from "../fleet/filters";
import type { EventFilters } from "./filters";

/** The events that the filters leave; the span does not count, since what waits may be of any age. */
export function matching(
  events: readonly ListedEvent[],
  { deviceId, groupId, kinds }: Pick<EventFilters, "deviceId" | "groupId" | "kinds">,
  groups: readonly Group[],
  groupOf: (deviceId: number) => number,
): readonly ListedEvent[] {
  const within = groupId === null ? null : groupsBelow(groups, groupId);
  return events.filter(
    (event) =>
      (deviceId === null || event.deviceId === deviceId) &&
      (within === null || within.has(groupOf(event.deviceId))) &&
      (kinds.length === 0 || kinds.some((kind) => isOfKind(event, kind))),
  );
}

/** A selection with the rows from one to another, or with one row more or less. */
export function selectedWith(
  selected: ReadonlySet<number>,
  ids: readonly number[],
  to: number,
  from: number | null,
): ReadonlySet<number> {
  const id = ids[to];
  if (id === undefined) return selected;
  const changed = new Set(selected);
  if (from !== null)
    for (const each of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) changed.add(each);
  else if (!changed.delete(id)) changed.add(id);
  return changed;
}

function isOfKind({ type, attributes }: ListedEvent, kind: string): boolean {
  return kind === type || (type === "alarm" && kind === `alarm:${String(attributes.alarm)}`);
}

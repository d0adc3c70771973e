/** Which vehicles the list shows: the filters of the address. */

import type { Device, Group, Position } from "../../api/types";

export interface Filters {
  keyword: string;
  /** `online`, `offline`, `unknown`, `moving`, `standing`, or empty for all. */
  status: string;
  /** A group with all groups below it; null for all. */
  groupId: number | null;
}

export const STATUSES = ["online", "offline", "unknown", "moving", "standing"] as const;

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): Filters {
  const status = query.get("status") ?? "";
  const group = Number(query.get("groupId"));
  return {
    keyword: query.get("keyword") ?? "",
    status: (STATUSES as readonly string[]).includes(status) ? status : "",
    groupId: Number.isInteger(group) && group > 0 ? group : null,
  };
}

/** The ids of a group and all groups below it. */
export function groupsBelow(
  groups: readonly Pick<Group, "id" | "groupId">[],
  id: number,
): ReadonlySet<number> {
  const found = new Set([id]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const group of groups) if (found.has(group.groupId)) found.add(group.id);
  }
  return found;
}

/** Whether a vehicle moves: what its device says, else by its speed. */
export function isMoving(position: Position | undefined): boolean {
  if (!position) return false;
  const said = position.attributes.motion;
  return typeof said === "boolean" ? said : position.speed > 0.01;
}

/** Whether a position can be drawn: some devices send 0°, 0° while they have no fix. */
export function hasPlace(position: Position | undefined): position is Position {
  return position !== undefined && (position.latitude !== 0 || position.longitude !== 0);
}

/** A test of vehicles. All words of the keyword must be in name or number. */
export function matcher(
  filters: Filters,
  groups: ReadonlySet<number> | null,
): (device: Device, position: Position | undefined) => boolean {
  const words = filters.keyword.toLowerCase().split(/\s+/).filter(Boolean);
  return (device, position) => {
    if (groups && !groups.has(device.groupId)) return false;
    if (filters.status === "moving" || filters.status === "standing") {
      const moving = device.status === "online" && isMoving(position);
      if (!position || moving !== (filters.status === "moving")) return false;
    } else if (filters.status && device.status !== filters.status) return false;
    if (words.length === 0) return true;
    const known = `${device.name} ${device.uniqueId}`.toLowerCase();
    return words.every((word) => known.includes(word));
  };
}

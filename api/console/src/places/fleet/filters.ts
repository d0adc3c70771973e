/** Which vehicles the list shows: the filters of the address. */

import type { Device, Group, Position } from "../../api/types";
import { STATES, type VehicleState } from "./vehicleState";

export interface Filters {
  keyword: string;
  /** A state, or `` for all; archived ones alone are shown by `archived`. */
  status: VehicleState | "archived" | "";
  /** A group with all groups below it; null for all. */
  groupId: number | null;
}

/** States as addresses have them; `unknown` is the API's word for what is silent. */
const STATUSES: ReadonlyMap<string, VehicleState | "archived"> = new Map([
  ...STATES.map((state) => [state, state] as const),
  ["unknown", "silent"],
  ["archived", "archived"],
]);

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): Filters {
  const group = Number(query.get("groupId"));
  return {
    keyword: query.get("keyword") ?? "",
    status: STATUSES.get(query.get("status") ?? "") ?? "",
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

/** Whether a position can be drawn: some devices send 0°, 0° while they have no fix. */
export function hasPlace(position: Position | undefined): position is Position {
  return position !== undefined && (position.latitude !== 0 || position.longitude !== 0);
}

/** A test of vehicles, whatever their state. All words of the keyword must be in name or number. */
export function matcher(
  keyword: string,
  groups: ReadonlySet<number> | null,
): (device: Pick<Device, "name" | "uniqueId" | "groupId">) => boolean {
  const words = keyword.toLowerCase().split(/\s+/).filter(Boolean);
  return (device) => {
    if (groups && !groups.has(device.groupId)) return false;
    if (words.length === 0) return true;
    const known = `${device.name} ${device.uniqueId}`.toLowerCase();
    return words.every((word) => known.includes(word));
  };
}

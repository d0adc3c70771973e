import { useMemo } from "preact/hooks";
import type { Group } from "../../api/types";
import { archivedIds, deviceIds, deviceNow, positionNow } from "../../state/fleet";
import { type Filters, groupsBelow, matcher } from "./filters";
import { useBeat } from "./useBeat";
import { type VehicleState, vehicleState } from "./vehicleState";

/** Vehicles fall silent without a message. */
const SILENCE_MS = 15_000;

export interface Filtered {
  /** The vehicles that the filters leave. */
  ids: readonly number[];
  /** How many vehicles of each state keyword and group leave; archived ones have none. */
  counts: Readonly<Record<VehicleState | "archived", number>>;
}

/**
 * What the filters leave, for list and map. What changes by messages is looked at once a second; the arrays are then
 * other ones.
 */
export function useFilteredVehicles(filters: Filters, groups: readonly Group[] | null): Filtered {
  const all = deviceIds.value;
  const archived = archivedIds.value;
  const beat = useBeat(SILENCE_MS);
  const { keyword, status, groupId } = filters;
  const below = useMemo(
    () => (groupId === null ? null : groupsBelow(groups ?? [], groupId)),
    [groupId, groups],
  );
  return useMemo(() => {
    const shows = matcher(keyword, below);
    const now = Date.now();
    const ids: number[] = [];
    const counts = { moving: 0, standing: 0, online: 0, silent: 0, offline: 0, never: 0, archived: 0 };
    for (const id of all) {
      const device = deviceNow(id);
      if (!device || !shows(device)) continue;
      const state = vehicleState(device, positionNow(id), now);
      counts[state] += 1;
      if (status === "" || status === state || (status === "online" && device.status === "online"))
        ids.push(id);
    }
    for (const id of archived) {
      const device = deviceNow(id);
      if (!device || !shows(device)) continue;
      counts.archived += 1;
      if (status === "archived") ids.push(id);
    }
    return { ids, counts };
  }, [all, archived, beat, keyword, status, below]);
}

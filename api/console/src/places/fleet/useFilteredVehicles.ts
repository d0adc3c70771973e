import { useEffect, useMemo, useState } from "preact/hooks";
import type { Group } from "../../api/types";
import { changed, deviceIds, deviceNow, positionNow } from "../../state/fleet";
import { type Filters, groupsBelow, matcher } from "./filters";

const BEAT_MS = 1000;

/**
 * The ids that the filters leave, for list and map. What changes by messages is looked at once a second; the array is
 * then another one.
 */
export function useFilteredVehicles(filters: Filters, groups: readonly Group[] | null): readonly number[] {
  const ids = deviceIds.value;
  const [beat, setBeat] = useState(0);
  useEffect(() => {
    let timer = 0;
    const end = changed.subscribe(() => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        setBeat((before) => before + 1);
      }, BEAT_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  const { keyword, status, groupId } = filters;
  const below = useMemo(
    () => (groupId === null ? null : groupsBelow(groups ?? [], groupId)),
    [groupId, groups],
  );
  return useMemo(() => {
    const shows = matcher({ keyword, status, groupId }, below);
    return ids.filter((id) => {
      const device = deviceNow(id);
      return device !== undefined && shows(device, positionNow(id));
    });
  }, [ids, beat, keyword, status, groupId, below]);
}

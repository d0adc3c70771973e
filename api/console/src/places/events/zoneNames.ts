import { useMemo } from "preact/hooks";
import { useZones } from "../../state/zones";
import type { Names } from "./eventText";

/** The names of the zones that the reader sees. */
export function useZoneNames(): Names {
  const zones = useZones();
  return useMemo(() => new Map(zones?.map(({ id, name }) => [id, name])), [zones]);
}

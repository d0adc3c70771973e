/** The vehicles to choose from, wherever some are chosen. */

import { deviceIds, deviceNow } from "./fleet";

export interface VehicleChoice {
  id: number;
  name: string;
  /** Its number. */
  note: string;
}

/** Vehicles by name; of archived ones those that are chosen already. */
export function vehicleChoices(chosen: readonly number[] = []): readonly VehicleChoice[] {
  const ids = deviceIds.value;
  const known = new Set(ids);
  return [...ids, ...chosen.filter((id) => !known.has(id) && deviceNow(id))].map((id) => {
    const found = deviceNow(id);
    return { id, name: found?.name ?? String(id), note: found?.uniqueId ?? "" };
  });
}

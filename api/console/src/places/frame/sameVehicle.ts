/** Which address shows for one vehicle what another address shows for another. */

import { withQuery } from "../../router";

/** Parameters that hold for another vehicle as well. */
const KEPT = ["keyword", "status", "groupId", "follow", "from", "to", "at", "view"];

/** The place of an address for another vehicle; null where it shows none, or that one already. */
export function addressFor(
  vehicle: number,
  { path, query }: { path: string; query: URLSearchParams },
): string | null {
  const kept = new URLSearchParams([...query].filter(([name]) => KEPT.includes(name)));
  const [, place, id, part] = path.split("/");
  if (place === "vehicles") {
    if (id === String(vehicle)) return null;
    // The view of the map is that of the vehicle of before.
    if (!part) kept.delete("at");
    return withQuery(["", place, vehicle, ...(part ? [part] : [])].join("/"), kept);
  }
  if (place !== "" && place !== "fleet") return null;
  kept.delete("at");
  return withQuery(`/vehicles/${vehicle}`, kept);
}

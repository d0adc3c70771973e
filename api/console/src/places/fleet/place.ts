/** Where a vehicle is, in words: its zone, else its address, else the nearest town. */

import { computed } from "@preact/signals";
import type { Geofence, Position } from "../../api/types";
import { drawable, sizeOf } from "../../map/zoneShapes";
import { position } from "../../state/fleet";
import { usePlaceWords } from "../../state/onScreen";
import { zones } from "../../state/zones";
import { hasPlace } from "./filters";

/** The zones that have been read, by id. */
const known = computed(() => new Map(zones.value?.map((each) => [each.id, each])));
const names = computed(() => new Set(zones.value?.map(({ name }) => name)));
const sizes = new WeakMap<Geofence, number>();

/** The place of a vehicle's latest position; null until it is known. */
export function usePlace(id: number): string | null {
  const said = usePlaceWords(id).value?.place ?? null;
  return placeText(position(id).value, said, known.value, names.value);
}

/**
 * The smallest zone that the position is in, else its address, else what the server said of an earlier position, but
 * for the name of a zone: the vehicle has left it.
 */
export function placeText(
  at: Position | undefined,
  said: string | null,
  zonesById: ReadonlyMap<number, Geofence>,
  zoneNames: ReadonlySet<string>,
): string | null {
  if (!hasPlace(at)) return null;
  const inside = (at.geofenceIds ?? []).flatMap((id) => zonesById.get(id) ?? []);
  const [smallest] = inside.sort((one, other) => size(one) - size(other));
  if (smallest) return smallest.name;
  return at.address || (said !== null && zoneNames.has(said) ? null : said);
}

/** Square degrees; what cannot be drawn comes last. */
function size(record: Geofence): number {
  let found = sizes.get(record);
  if (found === undefined) {
    const [zone] = drawable([record]);
    found = zone ? sizeOf(zone) : Number.POSITIVE_INFINITY;
    sizes.set(record, found);
  }
  return found;
}

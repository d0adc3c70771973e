import type { Device, Position } from "../../api/types";
import type { Vehicle } from "../../map/vehicles";
import { deviceNow, positionNow } from "../../state/fleet";
import { waitingByDevice } from "../../state/reviews";
import { hasPlace } from "./filters";
import { vehicleState } from "./vehicleState";

/** Marks of the map by state. */
const MARKS = {
  moving: "moving",
  standing: "online",
  online: "online",
  silent: "unknown",
  offline: "offline",
  never: "unknown",
} as const;
const OLD_MS = 60 * 60_000;

/** A vehicle as the map draws it; undefined without a place. */
export function vehicleOf(id: number): Vehicle | undefined {
  const found: Device | undefined = deviceNow(id);
  const place: Position | undefined = positionNow(id);
  if (!found || !place?.valid || !hasPlace(place)) return undefined;
  const { longitude, latitude, course } = place;
  const state = vehicleState(found, place, Date.now());
  const old = found.status !== "online" && Date.now() - Date.parse(place.fixTime) > OLD_MS;
  const severity = waitingByDevice.peek().get(id)?.[0]?.severity;
  const alarm = severity === "CRITICAL" || severity === "WARNING" ? severity : undefined;
  return { id, name: found.name, status: MARKS[state], longitude, latitude, course, old, alarm };
}

/** What a vehicle does, in the one set of words that all places use (docs/console.md#states-of-vehicles). Pure. */

import type { Device, Position } from "../../api/types";

/**
 * `moving` and `standing` while the device is online; `online` where it never sent a position. `silent`: it did not log
 * off, and was not heard of for `device.status_seconds`, or moved and sent no position for two minutes. `never`: it was
 * never heard of.
 */
export type VehicleState = "moving" | "standing" | "online" | "silent" | "offline" | "never";

/** All, in the order in which they are offered. */
export const STATES: readonly VehicleState[] = ["moving", "standing", "online", "silent", "offline", "never"];

/** What moves reports more often than this. */
const MOVING_MS = 120_000;

export function vehicleState(
  { status, lastUpdate }: Pick<Device, "status" | "lastUpdate">,
  position: Position | undefined,
  now: number,
): VehicleState {
  if (status !== "online") return !lastUpdate ? "never" : status === "offline" ? "offline" : "silent";
  if (!position) return "online";
  if (!isMoving(position)) return "standing";
  return now - heardAt(position) < MOVING_MS ? "moving" : "silent";
}

/** Whether a vehicle moves: what its device says, else by its speed. */
export function isMoving(position: Position | undefined): boolean {
  if (!position) return false;
  const said = position.attributes.motion;
  return typeof said === "boolean" ? said : position.speed > 0.01;
}

/** What a position tells is of its fix, which may have come late, or when it came if the clock of its device is ahead. */
export function heardAt({ fixTime, serverTime }: Position): number {
  return Math.min(Date.parse(fixTime), Date.parse(serverTime));
}

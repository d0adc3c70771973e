/** What a fleet does now, as numbers. Pure. */

import type { Device, Position } from "../../api/types";
import { camerasOf } from "../../video/channels";
import { STATES, type VehicleState, vehicleState } from "../fleet/vehicleState";

export interface Known {
  device: Device;
  position: Position | undefined;
}

/** How many vehicles are in each state. */
export function countStates(vehicles: readonly Known[], now: number): Readonly<Record<VehicleState, number>> {
  const found = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<VehicleState, number>;
  for (const { device, position } of vehicles) found[vehicleState(device, position, now)] += 1;
  return found;
}

/** A vehicle of which nobody sees pictures. */
export interface SilentCameras {
  device: Device;
  /** Cameras whose signal is lost; none where the vehicle itself is not heard of. */
  lost: readonly number[];
  state: VehicleState;
}

/** Vehicles with cameras that are not heard of though they did not log off, or that tell of lost pictures, by name. */
export function silentCameras(vehicles: readonly Known[], now: number): readonly SilentCameras[] {
  const found: SilentCameras[] = [];
  for (const { device, position } of vehicles) {
    if (!position) continue;
    const cameras = camerasOf(device, position);
    if (cameras.length === 0) continue;
    const state = vehicleState(device, position, now);
    const lost = state === "offline" || state === "silent" ? [] : lostOf(position);
    if (state === "silent" || lost.length > 0) found.push({ device, lost, state });
  }
  return found;
}

/** Bits of `videoLost` (JT/T 1078, table 14): the first stands for camera 1. */
function lostOf({ attributes }: Position): readonly number[] {
  const bits = attributes.videoLost;
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits <= 0) return [];
  return Array.from({ length: 32 }, (_, index) => index + 1).filter(
    (camera) => Math.floor(bits / 2 ** (camera - 1)) % 2 === 1,
  );
}

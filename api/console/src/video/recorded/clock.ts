/** By how much the clock of a camera is off against GPS, as the reader has set it: an attribute of the vehicle. */

import type { Device } from "../../api/types";
import { changeAttribute } from "../../state/deviceAttributes";
import { deviceNow } from "../../state/fleet";
import type { Span } from "../../time/spans";

/** One press, in milliseconds. */
export const STEP_MS = 500;
const MOST_MS = 10_000;

/** Milliseconds that are added to the times of a camera's pictures; 0 where nothing is set. */
export function clockOf(device: Pick<Device, "attributes"> | undefined, camera: number): number {
  const found = Number(device?.attributes?.[nameOf(camera)] ?? 0);
  return Number.isFinite(found) ? bounded(found) : 0;
}

/** The same of a vehicle as it is known now. */
export function clockNow(deviceId: number, camera: number): number {
  return clockOf(deviceNow(deviceId), camera);
}

/**
 * A span in the camera's own times, by which the vehicle is asked for it: whole seconds that hold all of it. With `now`
 * a span that has passed ends by then also where the camera is ahead.
 */
export function spanOfCamera({ from, to }: Span, clock: number, now = Number.POSITIVE_INFINITY): Span {
  return {
    from: Math.floor((from - clock) / 1000) * 1000,
    to: Math.min(Math.ceil((to - clock) / 1000) * 1000, Math.max(to, Math.floor(now / 1000) * 1000)),
  };
}

/** A span of the camera's own times as it is shown. */
export function spanShown({ from, to }: Span, clock: number): Span {
  return { from: from + clock, to: to + clock };
}

/** Move the clock of a camera and keep that with the vehicle. */
export function moveClock(deviceId: number, camera: number, by: number): Promise<void> {
  return changeAttribute(deviceId, nameOf(camera), (device) => {
    return bounded(clockOf(device, camera) + by) || undefined;
  });
}

function nameOf(camera: number): string {
  return `console.clock${camera}`;
}

function bounded(milliseconds: number): number {
  return Math.max(-MOST_MS, Math.min(MOST_MS, milliseconds));
}

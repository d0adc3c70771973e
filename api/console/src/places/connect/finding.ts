/** What is known of a tracker that is waited for. Pure. */

import type { Device, Position } from "../../api/types";
import { isSame } from "./numbers";
import type { Sender } from "./unclaimedSenders";

export type Finding =
  /** It sends positions. */
  | { kind: "reports" }
  /** Its positions have no fix. */
  | { kind: "noFix" }
  /** It has logged in, and sent no position. */
  | { kind: "noPosition" }
  /** The vehicle must not report. */
  | { kind: "shut" }
  /** It comes, and has not been let in yet. */
  | { kind: "knocks"; sender: Sender }
  /** Its number is another one. */
  | { kind: "otherNumber"; sender: Sender }
  /** It speaks a protocol that is not the port's. */
  | { kind: "otherPort"; sender: Sender }
  /** It differs from what is known of the vehicle. */
  | { kind: "refused"; sender: Sender }
  /** What it sends cannot be read. */
  | { kind: "broken"; sender: Sender }
  | { kind: "nothing" };

/** Devices without a fix so far have the origin of the time of GPS (docs/protocols/common.md). */
const FIRST_FIX = Date.parse("2000-01-01T00:00:00Z");

/** Whether a position says where the vehicle is. */
function isPlaced(position: Position | undefined): position is Position {
  return position !== undefined && Date.parse(position.fixTime) > FIRST_FIX;
}

/** The most advanced finding from the vehicle, its latest position and the senders heard. */
export function findingOf(
  device: Device,
  position: Position | undefined,
  heard: readonly Sender[],
  now: number,
): Finding {
  const expired = device.expirationTime !== null && Date.parse(device.expirationTime) <= now;
  if (device.disabled || expired) return { kind: "shut" };
  if (isPlaced(position)) {
    const hasPlace = position.latitude !== 0 || position.longitude !== 0;
    return { kind: position.valid && hasPlace ? "reports" : "noFix" };
  }
  const own = heard.find((each) => isSame(each.uniqueId, device.uniqueId));
  if (own?.deviceId === device.id && isRefusal(own.problem)) return { kind: "refused", sender: own };
  if (device.lastUpdate !== null || position) {
    return own?.problem && own.deviceId === device.id
      ? { kind: "broken", sender: own }
      : { kind: "noPosition" };
  }
  if (own) return { kind: "knocks", sender: own };
  const likely = heard.find((each) => each.likely);
  if (!likely) return { kind: "nothing" };
  if (likely.uniqueId) return { kind: "otherNumber", sender: likely };
  return { kind: likely.guessedProtocol ? "otherPort" : "broken", sender: likely };
}

/** Whether the server says that a login of a vehicle was refused (`connection_devices.py`). */
function isRefusal(problem: string): boolean {
  return problem.startsWith("refused: ");
}

/** Whether a refusal is about the check value of a message. */
export function isChecksum(problem: string): boolean {
  return /check (byte|value|sum)|checksum|CRC/i.test(problem);
}

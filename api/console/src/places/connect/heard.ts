/** Who is heard at the ports of trackers that no vehicle has, or not this one. Pure. */

import type { LogRecord } from "../../api/socket";
import { holds, looksLike } from "./looks";
import { isLike, isSame } from "./numbers";

/** What is known of one that sends. */
export interface Sender {
  /** By its number, else by address and port. */
  key: string;
  /** Empty where it did not say who it is. */
  uniqueId: string;
  protocol: string;
  host: string;
  /** The vehicle that it is; 0 is none. */
  deviceId: number;
  /** Why its bytes were dropped, it was refused, or the connection ended; else empty. */
  problem: string;
  /** The protocol that its bytes look like, where that is another one. */
  looks: string | null;
  /** Its number was probably meant, or its bytes have the number in them. */
  likely: boolean;
  /** When it was last heard, in milliseconds since 1970. */
  at: number;
}

/** Whom one waits for. */
export interface Wanted {
  uniqueId: string;
  /** The vehicle; what was registered since has a larger id. */
  deviceId: number;
}

/** More are not shown, and not kept. */
export const MOST_SENDERS = 20;

/** Take the records of a message; the newest are first, and the likely ones before them. */
export function hear(
  known: readonly Sender[],
  records: readonly LogRecord[],
  wanted: Wanted,
  at: number,
): readonly Sender[] {
  const senders = new Map(known.map((each) => [each.key, each]));
  for (const record of records) {
    const sender = senderOf(record, wanted, at);
    const isOwn = sender.deviceId === wanted.deviceId;
    // Where unknown devices are registered, the tracker may have become a vehicle of its own.
    const isRegistered = sender.deviceId > wanted.deviceId && sender.likely;
    if (isOwn ? !sender.problem : sender.deviceId !== 0 && !isRegistered) continue;
    const before = senders.get(sender.key);
    senders.set(sender.key, {
      ...sender,
      problem: sender.problem || before?.problem || "",
      looks: sender.looks ?? before?.looks ?? null,
      likely: sender.likely || (before?.likely ?? false),
    });
  }
  return [...senders.values()]
    .sort((one, other) => Number(other.likely) - Number(one.likely) || other.at - one.at)
    .slice(0, MOST_SENDERS);
}

function senderOf(record: LogRecord, wanted: Wanted, at: number): Sender {
  const { host = "", protocol = "", uniqueId = "", deviceId = 0, data = "", problem = "" } = record;
  const looks = looksLike(data);
  return {
    key: uniqueId || `${host} ${protocol}`,
    uniqueId,
    protocol,
    host,
    deviceId,
    problem,
    looks: looks === protocol ? null : looks,
    likely: uniqueId
      ? isSame(uniqueId, wanted.uniqueId) || isLike(uniqueId, wanted.uniqueId)
      : holds(data, wanted.uniqueId),
    at,
  };
}

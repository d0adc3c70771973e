/** Senders at the ports of trackers that belong to no vehicle, or to another one. Pure. */

import type { LogRecord } from "../../api/socket";
import { isLike, isSame } from "./numbers";
import { containsNumber, guessProtocol } from "./protocolGuess";

/** What is known of a sender. */
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
  guessedProtocol: string | null;
  /** Its number was probably meant, or its bytes have the number in them. */
  likely: boolean;
  /** When it was last heard, in milliseconds since 1970. */
  at: number;
}

/** The tracker that is waited for. */
export interface Wanted {
  uniqueId: string;
  /** The vehicle; what was registered since has a larger id. */
  deviceId: number;
}

/** More are not shown, and not kept. */
export const MOST_SENDERS = 20;

/** Add the records of a message: likely senders first, then by time, the newest first. */
export function addRecords(
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
      guessedProtocol: sender.guessedProtocol ?? before?.guessedProtocol ?? null,
      likely: sender.likely || (before?.likely ?? false),
    });
  }
  return [...senders.values()]
    .sort((one, other) => Number(other.likely) - Number(one.likely) || other.at - one.at)
    .slice(0, MOST_SENDERS);
}

function senderOf(record: LogRecord, wanted: Wanted, at: number): Sender {
  const { host = "", protocol = "", uniqueId = "", deviceId = 0, data = "", problem = "" } = record;
  const guessedProtocol = guessProtocol(data);
  return {
    key: uniqueId || `${host} ${protocol}`,
    uniqueId,
    protocol,
    host,
    deviceId,
    problem,
    guessedProtocol: guessedProtocol === protocol ? null : guessedProtocol,
    likely: uniqueId
      ? isSame(uniqueId, wanted.uniqueId) || isLike(uniqueId, wanted.uniqueId)
      : containsNumber(data, wanted.uniqueId),
    at,
  };
}

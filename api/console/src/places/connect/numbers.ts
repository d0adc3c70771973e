/** What trackers call themselves: which numbers are the same, and which were probably meant. */

import type { NumberKind } from "./trackers";

/** Leading zeros of numbers do not count (docs/decisions/0021-unknown-devices.md). */
function plain(number: string): string {
  const text = number.trim();
  return /^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, "") : text;
}

/** Whether the server takes both for one device. */
export function isSame(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

/** Whether one was probably meant by the other: a part of it, the same end, or at most two digits wrong. */
export function isLike(one: string, other: string): boolean {
  const [first, second] = [plain(one), plain(other)];
  if (first.length < MEANT || second.length < MEANT) return false;
  if (first.includes(second) || second.includes(first)) return true;
  return first.slice(-MEANT) === second.slice(-MEANT) || distance(first, second) <= 2;
}

/** Too many shorter numbers look alike. */
const MEANT = 6;

/** Characters to add, leave out or replace; more than two are three. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, there] of [...other].entries()) {
      const [left, above, before] = [next[at] ?? 0, row[at + 1] ?? 0, row[at] ?? 0];
      next.push(Math.min(left + 1, above + 1, before + (character === there ? 0 : 1)));
    }
    row = next;
  }
  return Math.min(3, row[other.length] ?? 3);
}

/** What is wrong with a number that was typed. */
export type Doubt = "imeiLength" | "imeiDigit" | "phone";

/** A doubt about a number of this kind, or null; a tracker may send it nevertheless. */
export function doubtOf(number: string, kind: NumberKind | null): Doubt | null {
  const text = number.trim();
  if (text === "") return null;
  if (kind === "imei") {
    if (!/^\d{15}$/.test(text)) return "imeiLength";
    return isImei(text) ? null : "imeiDigit";
  }
  if (kind === "phone") return /^\d{6,20}$/.test(text) ? null : "phone";
  return null;
}

/** Whether the last of 15 digits is the check digit of the others (3GPP TS 23.003, annex B). */
export function isImei(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 ? 2 : 1);
    return total + (digit > 9 ? digit - 9 : digit);
  }, 0);
  return sum % 10 === 0;
}

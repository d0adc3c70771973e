/** Links: which there are, and sending many of them, with what is said of each that is refused. */

import { Problem, post, remove } from "../../api/call";
import type { Key } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";

export type OwnerKind = "user" | "group" | "device";
export const OWNERS: readonly OwnerKind[] = ["user", "group", "device"];

/** What may be linked, by the second key of a link: the list it is chosen from, and its owners (docs/permissions.md#links). */
export const KINDS = {
  deviceId: { path: "/devices", owners: ["user"] },
  groupId: { path: "/groups", owners: ["user"] },
  managedUserId: { path: "/users", owners: ["user"] },
  geofenceId: { path: "/geofences", owners: OWNERS },
  notificationId: { path: "/notifications", owners: OWNERS },
  calendarId: { path: "/calendars", owners: ["user"] },
  attributeId: { path: "/attributes/computed", owners: OWNERS },
  driverId: { path: "/drivers", owners: OWNERS },
  maintenanceId: { path: "/maintenance", owners: OWNERS },
  commandId: { path: "/commands", owners: OWNERS },
  scheduledCommandId: { path: "/scheduledcommands", owners: OWNERS },
  orderId: { path: "/orders", owners: OWNERS },
  reportId: { path: "/reports", owners: OWNERS },
  linkedDeviceId: { path: "/devices", owners: ["device"] },
} as const satisfies Record<string, { path: string; owners: readonly OwnerKind[] }>;
export type Kind = keyof typeof KINDS;

/** What an owner of this kind may be linked to. */
export function kindsOf(owner: OwnerKind): readonly Kind[] {
  return (Object.keys(KINDS) as Kind[]).filter((kind) =>
    (KINDS[kind].owners as readonly OwnerKind[]).includes(owner),
  );
}

export function kindLabel(kind: Kind): Key {
  return `people.kind.${kind}`;
}

/** A link as the API has it, the owner's key first. */
export type Link = Record<string, number>;

export function linkOf(owner: OwnerKind, ownerId: number, kind: Kind, id: number): Link {
  return { [`${owner}Id`]: ownerId, [kind]: id };
}

/** A change that waits to be saved. */
export interface Change {
  owner: OwnerKind;
  ownerId: number;
  kind: Kind;
  id: number;
  /** Of what is linked. */
  name: string;
  isLinked: boolean;
}

export interface Failure {
  change: Change;
  text: string;
}

/** Links that one request adds or removes at most. */
const MOST = 1000;
/** After so many refusals the rest is not tried: each costs a request. */
const MOST_REFUSED = 20;

/** Save changes, those of a kind together, and return those that were refused, with what the server says of each. */
export async function saveLinks(changes: readonly Change[]): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const alike of grouped(changes)) failures.push(...(await send(alike)));
  return failures;
}

/** Changes that one request can hold: of the same two keys, all added or all removed. */
function grouped(changes: readonly Change[]): readonly Change[][] {
  const found = new Map<string, Change[]>();
  for (const each of changes) {
    const key = `${each.owner} ${each.kind} ${each.isLinked}`;
    found.set(key, [...(found.get(key) ?? []), each]);
  }
  return [...found.values()];
}

/** A list is stored as a whole or not at all, so what is refused is taken out and the rest sent again. */
async function send(changes: readonly Change[]): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let left = [...changes];
  while (left.length > 0) {
    const part = left.slice(0, MOST);
    try {
      const body = part.map(({ owner, ownerId, kind, id }) => linkOf(owner, ownerId, kind, id));
      await (part[0]?.isLinked ? post("/permissions/bulk", body) : remove("/permissions/bulk", body));
      left = left.slice(part.length);
    } catch (problem) {
      const refused = refusedLink(problem);
      const change = refused && part[refused.index];
      if (!change || failures.length >= MOST_REFUSED) {
        const text = sentenceOf(problem);
        return [...failures, ...left.map((each) => ({ change: each, text }))];
      }
      failures.push({ change, text: refused.text });
      left = left.filter((each) => each !== change);
    }
  }
  return failures;
}

/** Which link of a list a refusal is about, and why (`[3].deviceId: …`); null if it is about none of them. */
export function refusedLink(problem: unknown): { index: number; text: string } | null {
  if (!(problem instanceof Problem) || problem.status !== 400) return null;
  const found = /^\[(\d+)\](?:\.\w+)?: (.+)$/s.exec(problem.text.trim());
  if (!found?.[1] || !found[2]) return null;
  return { index: Number(found[1]), text: found[2].charAt(0).toUpperCase() + found[2].slice(1) };
}

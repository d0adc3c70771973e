/** What notifications are linked to: vehicles, groups, and the people whom they reach. */

import { get, post, remove } from "../api/call";
import { drop } from "../state/responseCache";
import type { Linked } from "./trial";

const KINDS = [
  ["deviceIds", "deviceId"],
  ["groupIds", "groupId"],
  ["userIds", "userId"],
] as const;
/** Links that one request adds or removes at most (docs/permissions.md#links). */
const MOST_LINKS = 1000;

/** The links of a notification, as far as the reader sees them. Throws a `Problem`. */
export async function loadLinks(notificationId: number, signal?: AbortSignal): Promise<Linked> {
  const [deviceIds, groupIds, userIds] = await Promise.all(
    KINDS.map(async ([, key]) => {
      const found = await get<readonly Record<string, number>[]>(
        "/permissions",
        { [key]: 0, notificationId },
        signal,
      );
      return found.flatMap((link) => link[key] ?? []);
    }),
  );
  return { deviceIds: deviceIds ?? [], groupIds: groupIds ?? [], userIds: userIds ?? [] };
}

/** Add and remove links; those that are the same stay untouched. Throws a `Problem`. */
export async function saveLinks(notificationId: number, before: Linked, after: Linked): Promise<void> {
  for (const [field, key] of KINDS) {
    const linksOf = (ids: readonly number[]) => ids.map((id) => ({ [key]: id, notificationId }));
    const [old, wanted] = [before[field], after[field]];
    for (const part of parts(linksOf(wanted.filter((id) => !old.includes(id)))))
      await post("/permissions/bulk", part);
    for (const part of parts(linksOf(old.filter((id) => !wanted.includes(id)))))
      await remove("/permissions/bulk", part);
  }
  drop("/notifications");
}

function parts<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / MOST_LINKS) }, (_, index) =>
    items.slice(index * MOST_LINKS, (index + 1) * MOST_LINKS),
  );
}

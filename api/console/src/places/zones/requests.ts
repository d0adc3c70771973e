/** Reading and saving a zone with what belongs to it. */

import { get, getVersioned, post, put, remove } from "../../api/call";
import type { Geofence, Notification } from "../../api/types";
import { differing, merged } from "../../state/edits";
import { drop } from "../../state/responseCache";
import { reloadZones } from "../../state/zones";
import type { Crossing, Editing, LinkKind, Links, Notices, Stored } from "./editing";

/** Links that one request adds or removes at most (docs/permissions.md#links). */
const MOST_LINKS = 1000;
const KINDS = ["groupId", "deviceId", "userId"] as const satisfies readonly LinkKind[];

/** Another edit was saved since the zone was read. */
export class Conflict extends Error {
  /** `fields` are those that the other edit changed. */
  constructor(
    readonly theirs: Stored,
    readonly fields: readonly string[],
  ) {
    super("changed meanwhile");
  }
}

/** Which step of a save failed, after the zone itself was saved. */
export class PartlySaved extends Error {
  constructor(
    readonly step: LinkKind | "notices",
    override readonly cause: unknown,
  ) {
    super("partly saved");
  }
}

/** Read a zone with its links and notifications. Throws a `Problem`. */
export async function loadZone(id: number, signal?: AbortSignal): Promise<Stored> {
  const [{ value, version }, notifications, ...links] = await Promise.all([
    getVersioned<Geofence>(`/geofences/${id}`, signal),
    get<Notification[]>("/notifications", undefined, signal),
    ...KINDS.map((kind) => linkedTo(id, kind, signal)),
  ]);
  const byKind = Object.fromEntries(KINDS.map((kind, index) => [kind, links[index] ?? []]));
  return {
    record: value,
    version,
    links: byKind as unknown as Links,
    notifications: notifications.filter((each) => concernsOnly(each, id)),
  };
}

async function linkedTo(id: number, kind: LinkKind, signal?: AbortSignal): Promise<number[]> {
  const found = await get<Record<string, number>[]>("/permissions", { [kind]: 0, geofenceId: id }, signal);
  return found.flatMap((link) => link[kind] ?? []);
}

/** Whether a notification is of crossings of this zone alone, so that it is ours to change. */
export function concernsOnly({ type, attributes }: Notification, id: number): boolean {
  return (
    (type === "geofenceEnter" || type === "geofenceExit") && String(attributes.geofenceIds) === String(id)
  );
}

/**
 * Save what was changed. Throws `Conflict` before anything is saved, `PartlySaved` after the zone itself, else a
 * `Problem`.
 */
export async function saveZone(editing: Editing): Promise<number> {
  const id = await saveRecord(editing);
  try {
    for (const kind of KINDS) await step(kind, () => saveLinks(editing, id, kind));
    await step("notices", () => saveNotices(editing, id));
  } finally {
    drop("/notifications");
    void reloadZones();
  }
  return id;
}

async function step(name: PartlySaved["step"], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (cause) {
    throw new PartlySaved(name, cause);
  }
}

async function saveRecord(editing: Editing): Promise<number> {
  const stored = editing.stored.peek();
  const mine = editing.record.peek();
  if (!stored.record) {
    const { id: _, ...body } = mine;
    const made = await post<Geofence>("/geofences", body);
    editing.rebase({ ...stored, record: made, version: "" }, made);
    return made.id;
  }
  const { id } = stored.record;
  if (differing(stored.record, mine).length === 0) return id;
  const now = await getVersioned<Geofence>(`/geofences/${id}`);
  const fields = differing(stored.record, now.value);
  if (fields.length > 0) {
    throw new Conflict({ ...stored, record: now.value, version: now.version }, fields);
  }
  const saved = await put<Geofence>(`/geofences/${id}`, mine, now.version);
  editing.rebase({ ...stored, record: saved, version: "" }, saved);
  return id;
}

/** Put what the reader changed on top of another edit. */
export function keepBoth(editing: Editing, theirs: Stored): void {
  const { record } = editing.stored.peek();
  if (record && theirs.record) {
    editing.rebase(theirs, merged(record, editing.record.peek(), theirs.record));
  }
}

/** Forget what the reader changed of the record. */
export function takeTheirs(editing: Editing, theirs: Stored): void {
  if (theirs.record) editing.rebase(theirs, theirs.record);
}

async function saveLinks(editing: Editing, id: number, kind: LinkKind): Promise<void> {
  const before = editing.stored.peek().links[kind];
  const after = editing.links.peek()[kind];
  const bodyOf = (each: number) => ({ [kind]: each, geofenceId: id });
  const added = after.filter((each) => !before.includes(each)).map(bodyOf);
  const removed = before.filter((each) => !after.includes(each)).map(bodyOf);
  for (const links of parts(added)) await post("/permissions/bulk", links);
  for (const links of parts(removed)) await remove("/permissions/bulk", links);
  const { links, ...rest } = editing.stored.peek();
  editing.stored.value = { ...rest, links: { ...links, [kind]: after } };
}

/** Make, change and remove the notifications of this zone alone. */
async function saveNotices(editing: Editing, id: number): Promise<void> {
  const wanted = editing.notices.peek();
  const kept: Notification[] = [];
  for (const each of editing.stored.peek().notifications) {
    if (wanted.types.includes(each.type as Crossing) && !kept.some(({ type }) => type === each.type))
      kept.push(await withNotificators(each, wanted));
    else await remove(`/notifications/${each.id}`);
  }
  for (const type of wanted.types) {
    if (kept.some((each) => each.type === type)) continue;
    const notificators = wanted.notificators.join(",");
    // It concerns the vehicles that are linked to the zone, whichever these are: others make no such events.
    const body = { type, always: true, notificators, attributes: { geofenceIds: String(id) } };
    kept.push(await post<Notification>("/notifications", body));
  }
  editing.stored.value = { ...editing.stored.peek(), notifications: kept };
}

async function withNotificators(each: Notification, { notificators }: Notices): Promise<Notification> {
  const names = notificators.join(",");
  if (each.notificators === names) return each;
  // The switches follow the list if the body has none.
  const { web: _web, mail: _mail, sms: _sms, ...rest } = each;
  return put<Notification>(`/notifications/${each.id}`, { ...rest, notificators: names });
}

/** Delete a zone, and the notifications that concern nothing else. */
export async function deleteZone({ record, notifications }: Stored): Promise<void> {
  if (!record) return;
  await remove(`/geofences/${record.id}`);
  for (const each of notifications) await remove(`/notifications/${each.id}`);
  drop("/notifications");
  void reloadZones();
}

function parts<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / MOST_LINKS) }, (_, index) =>
    items.slice(index * MOST_LINKS, (index + 1) * MOST_LINKS),
  );
}

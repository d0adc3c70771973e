/** What is linked to an owner: by itself, and by groups; and the lists that owners and things are chosen from. */

import { get } from "../../api/call";
import { compareNames, t } from "../../i18n/translate";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { may, session } from "../../state/session";
import { KINDS, type Kind, type Link, type OwnerKind } from "./links";

/** Something that can be linked. */
export interface Item {
  id: number;
  name: string;
  note: string;
}

interface Found {
  id: number;
  name?: string | null;
  description?: string | null;
  email?: string;
  uniqueId?: string;
  type?: string;
  administrator?: boolean;
  temporary?: boolean;
}

const PATHS: Record<OwnerKind, string> = { user: "/users", group: "/groups", device: "/devices" };

/** The owners that the reader may choose from. */
export function useOwners(owner: OwnerKind): Loaded<readonly Item[]> {
  return useLoaded(`owners ${owner}`, async () => {
    const own = session.peek();
    if (owner === "user" && !may("manageUsers")) return own ? [itemOf(own)] : [];
    // Guests of share links come by hundreds, and see what their link says.
    const found = (await readAll(PATHS[owner])).filter(({ temporary }) => !temporary);
    // A manager is none of their own users.
    const lacksOwn = owner === "user" && own && !found.some(({ id }) => id === own.id);
    return itemsOf(lacksOwn ? [own, ...found] : found);
  });
}

/** The things that the reader may link. */
export function useItems(kind: Kind): Loaded<readonly Item[]> {
  return useLoaded(`items ${kind}`, async () => {
    if (kind === "managedUserId" && !may("manageUsers")) return [];
    const found = await readAll(KINDS[kind].path);
    // Administrators have no managers, and guests of share links go by themselves.
    const isManaged = ({ administrator, temporary }: Found) => !administrator && !temporary;
    return itemsOf(kind === "managedUserId" ? found.filter(isManaged) : found);
  });
}

function readAll(path: string): Promise<readonly Found[]> {
  return read<readonly Found[]>(path, {
    excludeAttributes: true,
    ...(may("manageUsers") && path !== "/users" && { all: true }),
  });
}

/** By name, as the reader sorts. */
function itemsOf(found: readonly Found[]): readonly Item[] {
  return found.map(itemOf).sort((one, other) => compareNames(one.name, other.name));
}

function itemOf(found: Found): Item {
  const name = found.name || found.description || found.email || found.type || `#${found.id}`;
  const note = found.uniqueId ?? (found.email !== name ? found.email : undefined) ?? "";
  return { id: found.id, name, note };
}

export interface Linked {
  direct: ReadonlySet<number>;
  /** By id, the groups that it comes from; 0 for one that the reader does not see. */
  inherited: ReadonlyMap<number, readonly number[]>;
}

/** What is linked to an owner. */
export function useLinked(owner: OwnerKind, ownerId: number, kind: Kind): Loaded<Linked> {
  return useLoaded(`links ${owner} ${ownerId} ${kind}`, async (signal) => {
    const query = { [`${owner}Id`]: ownerId, [kind]: 0 };
    const [direct, byGroups] = await Promise.all([
      get<Link[]>("/permissions", query, signal),
      get<Link[]>("/permissions/inherited", query, signal),
    ]);
    const inherited = new Map<number, number[]>();
    for (const link of byGroups) {
      const id = link[kind] ?? 0;
      inherited.set(id, [...(inherited.get(id) ?? []), link.throughGroupId ?? 0]);
    }
    return { direct: new Set(direct.map((link) => link[kind] ?? 0)), inherited };
  });
}

/** The names of groups that links come from. */
export function useGroupNames(): (ids: readonly number[]) => string {
  const groups = useLoaded("group names", () => readAll("/groups")).value ?? [];
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  return (ids) => ids.map((id) => names.get(id) ?? t("people.aGroup")).join(", ");
}

import { useMemo, useState } from "preact/hooks";
import type { Device, Group } from "../../../api/types";
import { compareNames, t } from "../../../i18n/translate";
import { DRAGGED } from "./Devices";

interface GroupListProps {
  groups: readonly Group[];
  devices: readonly Device[];
  /** 0: vehicles without a group; null: all. */
  chosen: number | null;
  onChoose: (groupId: number | null) => void;
  /** What was dragged onto a group; null where nothing may be moved. */
  onDrop: ((ids: readonly number[], groupId: number) => void) | null;
}

/** Groups as a tree with how many vehicles are in each. Rows of the table are dragged onto them. */
export function GroupList({ groups, devices, chosen, onChoose, onDrop }: GroupListProps) {
  const [over, setOver] = useState<number | null>(null);
  const rows = useMemo(() => treeOf(groups), [groups]);
  const counts = useMemo(() => {
    const found = new Map<number, number>();
    for (const { groupId } of devices) found.set(groupId, (found.get(groupId) ?? 0) + 1);
    return found;
  }, [devices]);
  const row = (id: number | null, name: string, depth: number, count: number) => (
    <li key={String(id)} style={{ "--depth": depth }}>
      <button
        type="button"
        class={over === id && id !== null ? "over" : ""}
        aria-pressed={chosen === id}
        onClick={() => onChoose(id)}
        onDragOver={(event) => {
          if (id === null || !onDrop || !event.dataTransfer?.types.includes(DRAGGED)) return;
          event.preventDefault();
          setOver(id);
        }}
        onDragLeave={() => setOver(null)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(null);
          const ids: unknown = JSON.parse(event.dataTransfer?.getData(DRAGGED) || "[]");
          if (id !== null && Array.isArray(ids)) onDrop?.(ids.map(Number), id);
        }}
      >
        <span>{name}</span>
        <small>{count}</small>
      </button>
    </li>
  );
  return (
    <nav class="vehicles-groups" aria-label={t("vehicles.groups")}>
      <ul>
        {row(null, t("vehicles.allGroups"), 0, devices.length)}
        {row(0, t("vehicles.noGroup"), 0, counts.get(0) ?? 0)}
        {rows.map(({ group, depth }) => row(group.id, group.name, depth, counts.get(group.id) ?? 0))}
      </ul>
      {onDrop && groups.length > 0 && <p class="field-hint">{t("vehicles.dragHint")}</p>}
    </nav>
  );
}

/** Groups below their parents, by name. One whose parent the reader does not see stands at the top. */
export function treeOf(groups: readonly Group[]): readonly { group: Group; depth: number }[] {
  const known = new Set(groups.map(({ id }) => id));
  const below = new Map<number, Group[]>();
  for (const group of [...groups].sort((one, other) => compareNames(one.name, other.name))) {
    const parent = known.has(group.groupId) ? group.groupId : 0;
    below.set(parent, [...(below.get(parent) ?? []), group]);
  }
  const rows: { group: Group; depth: number }[] = [];
  const add = (parent: number, depth: number) => {
    for (const group of below.get(parent) ?? []) {
      rows.push({ group, depth });
      add(group.id, depth + 1);
    }
  };
  add(0, 0);
  return rows;
}

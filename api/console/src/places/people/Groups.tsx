import { useState } from "preact/hooks";
import type { Device, Group } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Dialog } from "../../parts/Dialog";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Menu, type MenuItem } from "../../parts/Menu";
import { Picker } from "../../parts/Picker";
import { Problem, sentenceOf } from "../../parts/Problem";
import { plain } from "../../parts/plain";
import { Question } from "../../parts/Question";
import { SearchField } from "../../parts/SearchField";
import { toast } from "../../parts/Toast";
import { Tree } from "../../parts/Tree";
import { branchOf, possibleParents, type TreeRow, treeRows } from "../../parts/treeRows";
import { NameField } from "../../records/EditFields";
import { RecordDialog } from "../../records/RecordDialog";
import { changeRecord, deleteRecord } from "../../records/records";
import { go } from "../../router";
import { read, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { AdminPlace } from "../admin/AdminPlace";
import "./people.css";

const PATH = "/groups";
/** Links of a group reach so many levels (docs/permissions.md#access-to-devices). */
const LEVELS = 3;

type Named = Group & { name: string };
type Node = Named & { parentId: number };

/** Groups as a tree that is moved by mouse and keys, with how many vehicles are in each. */
export default function Groups() {
  const all = may("manageUsers") ? { all: true } : {};
  const groups = useLoaded("admin groups", () => read<readonly Group[]>(PATH, all));
  const devices = useLoaded("admin devices", () =>
    read<readonly Device[]>("/devices", { ...all, excludeAttributes: true }),
  );
  const [text, setText] = useState("");
  const [edited, setEdited] = useState<Named | null>(null);
  const [moving, setMoving] = useState<Node | null>(null);
  const [deleting, setDeleting] = useState<Node | null>(null);
  const [menu, setMenu] = useState<{ node: Node; at: { x: number; y: number } } | null>(null);
  const rows = treeRows(
    (groups.value ?? []).map((each) => ({ ...each, name: each.name ?? "", parentId: each.groupId })),
  );
  const shown = searched(rows, text);
  const counts = countsOf(rows, devices.value ?? []);
  const nameOf = (id: number) => rows.find(({ node }) => node.id === id)?.node.name ?? "";
  const mayEdit = may("edit");
  const reload = () => groups.reload();

  const move = async (node: Node, parentId: number, isUndo = false) => {
    const before = node.parentId;
    try {
      await changeRecord<Group>(PATH, node.id, (now) => ({ ...now, groupId: parentId }));
      reload();
      const where = parentId ? nameOf(parentId) : t("people.topLevel");
      const undo = { label: t("common.undo"), run: () => void move(node, before, true) };
      toast(t("people.moved", { name: node.name, where }), "good", ...(isUndo ? [] : [undo]));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  };
  const blank = (groupId: number): Named => ({ id: 0, name: "", groupId, attributes: {} });
  const itemsOf = (node: Node): readonly MenuItem[] => [
    ...(mayEdit
      ? [
          { icon: "edit" as const, label: t("people.rename"), run: () => setEdited(recordOf(node)) },
          { icon: "plus" as const, label: t("people.newBelow"), run: () => setEdited(blank(node.id)) },
          { icon: "open" as const, label: t("people.move"), run: () => setMoving(node) },
        ]
      : []),
    {
      icon: "link",
      label: t("people.links"),
      run: () => go(`/admin/links?owner=group&id=${node.id}&kind=geofenceId`),
    },
    ...(mayEdit
      ? [
          {
            icon: "trash" as const,
            label: t("common.delete"),
            dangerous: true,
            run: () => setDeleting(node),
          },
        ]
      : []),
  ];
  const add = mayEdit && (
    <button type="button" class={rows.length > 0 ? "" : "primary"} onClick={() => setEdited(blank(0))}>
      <Icon name="plus" size={16} />
      {t("people.newGroup")}
    </button>
  );
  return (
    <AdminPlace to="/admin/groups">
      <div class="people">
        {groups.problem !== null && <Problem problem={groups.problem} onRetry={reload} />}
        {!groups.value && groups.problem === null && <Skeleton label={t("common.loading")} lines={6} />}
        {groups.value?.length === 0 && (
          <Empty icon="list" title={t("people.noGroups")} text={t("people.noGroupsText")}>
            {add}
          </Empty>
        )}
        {rows.length > 0 && (
          <>
            <div class="people-bar">
              <SearchField
                label={t("people.searchGroups")}
                placeholder={t("people.searchGroups")}
                value={text}
                onText={setText}
              />
              {add}
            </div>
            {mayEdit && <p class="card-text">{t("people.treeHint")}</p>}
            {rows.some(({ depth }) => depth >= LEVELS) && (
              <p class="card-text">{t("people.deep", { count: LEVELS })}</p>
            )}
          </>
        )}
        {rows.length > 0 && shown.length === 0 && <Empty icon="search" title={t("common.noMatch")} />}
        <Tree
          rows={rows}
          shown={shown}
          label={t("people.groups")}
          topLevel={t("people.topLevel")}
          mayMove={mayEdit}
          onMove={(node, parentId) => void move(node, parentId)}
        >
          {({ node }, onKeyDown) => (
            <>
              <Link
                class="tree-node groups-name"
                to={`/fleet?groupId=${node.id}`}
                draggable={false}
                onKeyDown={onKeyDown}
              >
                {node.name}
              </Link>
              <small class="groups-count">{countText(counts.get(node.id))}</small>
              <button
                type="button"
                class="icon-button"
                aria-haspopup="menu"
                aria-label={t("people.groupMenu", { name: node.name })}
                onClick={(event) => {
                  const box = event.currentTarget.getBoundingClientRect();
                  setMenu({ node, at: { x: box.left, y: box.bottom } });
                }}
              >
                <Icon name="more" size={18} />
              </button>
            </>
          )}
        </Tree>
        {menu && (
          <Menu
            label={t("people.groupMenu", { name: menu.node.name })}
            items={itemsOf(menu.node)}
            at={menu.at}
            onClose={() => setMenu(null)}
          />
        )}
        {edited && (
          <RecordDialog<Named>
            title={edited.id ? t("people.rename") : t("people.newGroup")}
            path={PATH}
            stored={edited.id ? edited : null}
            blank={edited}
            onClose={() => setEdited(null)}
            onSaved={() => {
              setEdited(null);
              reload();
            }}
          >
            {(edit) => (
              <>
                <NameField edit={edit} />
                {!edited.id && (
                  <Picker
                    label={t("people.within")}
                    items={rows.map(({ node }) => ({ id: node.id, name: node.name }))}
                    value={edit.value.groupId || null}
                    noneLabel={t("people.topLevel")}
                    placeholder={t("people.topLevel")}
                    disabled={edit.disabled}
                    onChange={(id) => edit.set({ groupId: Number(id ?? 0) })}
                  />
                )}
              </>
            )}
          </RecordDialog>
        )}
        {moving && (
          <MoveDialog
            node={moving}
            rows={rows}
            onClose={() => setMoving(null)}
            onMove={(parentId) => {
              setMoving(null);
              if (parentId !== moving.parentId) void move(moving, parentId);
            }}
          />
        )}
        {deleting && (
          <Question
            title={t("people.deleteTitle", { name: deleting.name })}
            text={t("people.deleteGroupText")}
            act={t("common.delete")}
            run={async () => {
              await deleteRecord(PATH, deleting.id);
              reload();
              devices.reload();
            }}
            onClose={() => setDeleting(null)}
          />
        )}
      </div>
    </AdminPlace>
  );
}

function recordOf({ parentId: _, ...group }: Node): Named {
  return { ...group, name: group.name ?? "" };
}

/** The rows whose name holds a text, with those above them. */
function searched(rows: readonly TreeRow<Node>[], text: string) {
  const wanted = plain(text.trim());
  if (!wanted) return rows;
  const kept = new Set<number>();
  const parents = new Map(rows.map(({ node }) => [node.id, node.parentId]));
  for (const { node } of rows) {
    if (!plain(node.name).includes(wanted)) continue;
    for (let id: number | undefined = node.id; id && !kept.has(id); id = parents.get(id)) kept.add(id);
  }
  return rows.filter(({ node }) => kept.has(node.id));
}

interface Count {
  own: number;
  withBelow: number;
}

/** How many vehicles are in each group, and with those in groups below it. */
export function countsOf(
  rows: readonly TreeRow<Node>[],
  devices: readonly Pick<Device, "groupId">[],
): ReadonlyMap<number, Count> {
  const own = new Map<number, number>();
  for (const { groupId } of devices) own.set(groupId, (own.get(groupId) ?? 0) + 1);
  return new Map(
    rows.map(({ node: { id } }) => {
      let withBelow = 0;
      for (const each of branchOf(rows, id)) withBelow += own.get(each) ?? 0;
      return [id, { own: own.get(id) ?? 0, withBelow }];
    }),
  );
}

function countText(count: Count | undefined): string {
  if (!count) return "";
  const text = t("fleet.count", { count: count.own });
  return count.withBelow > count.own
    ? `${text} · ${t("people.withBelow", { count: count.withBelow })}`
    : text;
}

interface MoveDialogProps {
  node: Node;
  rows: readonly TreeRow<Node>[];
  onClose: () => void;
  onMove: (parentId: number) => void;
}

function MoveDialog({ node, rows, onClose, onMove }: MoveDialogProps) {
  const [parentId, setParentId] = useState(node.parentId);
  const possible = possibleParents(rows, node.id);
  return (
    <Dialog
      title={t("people.moveTitle", { name: node.name })}
      onClose={onClose}
      actions={
        <button type="button" class="primary" onClick={() => onMove(parentId)}>
          {t("people.moveHere")}
        </button>
      }
    >
      <Picker
        label={t("people.within")}
        items={rows
          .filter(({ node }) => possible.has(node.id))
          .map(({ node }) => ({ id: node.id, name: node.name }))}
        value={parentId || null}
        noneLabel={t("people.topLevel")}
        placeholder={t("people.topLevel")}
        onChange={(id) => setParentId(Number(id ?? 0))}
      />
    </Dialog>
  );
}

import { computed } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { address, get } from "../../../api/call";
import type { Device, Driver, Group } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { ChooseColumns } from "../../../parts/ChooseColumns";
import { Empty } from "../../../parts/Empty";
import { Select } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { Problem, sentenceOf } from "../../../parts/Problem";
import { type RowKey, Table } from "../../../parts/Table";
import { toast } from "../../../parts/Toast";
import { go, location, withQuery } from "../../../router";
import { deviceIds, deviceNow, loaded } from "../../../state/fleet";
import { read, useLoaded } from "../../../state/responseCache";
import { may, session, style } from "../../../state/session";
import { useShownColumns } from "../../../state/shownColumns";
import { now as clock } from "../../../time/clock";
import { AdminPlace } from "../AdminPlace";
import { changeSeveral } from "./csv";
import { attributesOf, columnsOf, type Filter, filtered, STANDARD, USES, type Use } from "./deviceTable";
import { GroupList } from "./GroupList";
import { ImportDialog } from "./ImportDialog";
import { SelectedBar } from "./SelectedBar";
import "./vehicles.css";

const PATH = "/admin/devices";
/** Often enough for what is expired or silent. */
const minute = computed(() => Math.floor(clock.value / 60_000) * 60_000);
const keyOf = (device: Device) => device.id;

/** What is dragged from the table: the ids of devices, as JSON. */
import { SearchField } from "../../../parts/SearchField";
export const DRAGGED = "application/x-motorpool-devices";

/** All vehicles in a table: chosen columns, changes to several, files, groups. */
export default function Devices() {
  const all = session.value?.administrator === true || session.value?.userLimit !== 0;
  const listed = useLoaded(`devices ${all}`, (signal) => get<Device[]>("/devices", { all }, signal));
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const drivers = useLoaded("drivers", () => read<Driver[]>("/drivers", { excludeAttributes: true }));
  const now = minute.value;
  const query = location.value.query;
  const filter = useMemo(() => filterOf(query), [query.toString()]);
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set());
  const [isImporting, setImporting] = useState(false);
  const ids = deviceIds.value;
  // The vehicles of the fleet are known already; their attributes, and those of others, come a moment later.
  const devices = useMemo(
    () => listed.value ?? ids.map(deviceNow).filter((each): each is Device => each !== undefined),
    [listed.value, listed.value ? null : ids],
  );
  const attributes = useMemo(() => attributesOf(devices), [devices]);
  const byId = useMemo(() => new Map((groups.value ?? []).map((each) => [each.id, each])), [groups.value]);
  const byKey = useMemo(
    () => new Map((drivers.value ?? []).map((each) => [each.uniqueId, each])),
    [drivers.value],
  );
  const look = style.value;
  const columns = useMemo(
    () => columnsOf({ groups: byId, drivers: byKey, style: look, now }, attributes),
    [byId, byKey, look, now, attributes],
  );
  const shown = useShownColumns("devices", columns, STANDARD, (problem) => toast(sentenceOf(problem), "bad"));
  const visible = useMemo(() => shown.shown, [columns, shown.keys.join()]);
  const rows = useMemo(() => filtered(devices, filter, now), [devices, filter, now]);
  const chosen = useMemo(
    () => (selected.size === 0 ? [] : devices.filter(({ id }) => selected.has(id))),
    [devices, selected],
  );
  const set = (changes: Partial<Filter>, typing = false) => {
    const next = { ...filter, ...changes };
    const { keyword, groupId, use } = next;
    go(withQuery(PATH, { keyword, groupId: groupId === null ? "" : String(groupId), use }), {
      replace: typing,
    });
    setSelected(new Set());
  };
  const changed = () => {
    setSelected(new Set());
    listed.reload();
  };

  async function move(some: readonly Device[], groupId: number) {
    const name = groupId ? (byId.get(groupId)?.name ?? "") : t("vehicles.noGroup");
    const before = new Map(some.map((each) => [each.uniqueId, String(each.groupId)]));
    try {
      const done = await changeSeveral(some, new Map([["groupId", String(groupId)]]));
      changed();
      const fault = done.rows.find((row) => row.faults.length > 0)?.faults[0];
      if (fault) toast(t("vehicles.someFailed", { count: done.faulty, reason: fault.text }), "bad");
      const undo = () =>
        changeSeveral(some, (each) => new Map([["groupId", before.get(each.uniqueId) ?? "0"]])).then(
          changed,
          (problem: unknown) => toast(sentenceOf(problem), "bad"),
        );
      if (done.updated > 0)
        toast(t("vehicles.moved", { count: done.updated, name }), "good", {
          label: t("common.undo"),
          run: () => void undo(),
        });
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }

  const mayEdit = may("editDevices");
  const isEmpty = devices.length === 0 && (listed.value !== undefined || (loaded.value && !all));
  return (
    <AdminPlace
      to={PATH}
      acts={
        <div class="button-row">
          {may("addDevices") && (
            <Link class="button" to="/connect">
              <Icon name="plus" size={16} />
              {t("vehicles.connect")}
            </Link>
          )}
          {mayEdit && (
            <button type="button" onClick={() => setImporting(true)}>
              <Icon name="open" size={16} />
              {t("vehicles.import")}
            </button>
          )}
          <a class="button" href={address("/devices/csv", { all, keyword: filter.keyword })} download>
            <Icon name="download" size={16} />
            {t("vehicles.export")}
          </a>
        </div>
      }
    >
      {listed.problem !== null && <Problem problem={listed.problem} onRetry={listed.reload} />}
      {isEmpty ? (
        <Empty icon="car" title={t("vehicles.none")} text={t("vehicles.noneText")}>
          {may("addDevices") && (
            <Link class="button primary" to="/connect">
              {t("vehicles.connect")}
            </Link>
          )}
        </Empty>
      ) : (
        <div class="vehicles">
          <GroupList
            groups={groups.value ?? []}
            devices={devices}
            chosen={filter.groupId}
            onChoose={(groupId) => set({ groupId })}
            onDrop={
              mayEdit
                ? (ids, groupId) =>
                    void move(
                      devices.filter(({ id }) => ids.includes(id)),
                      groupId,
                    )
                : null
            }
          />
          <div class="vehicles-main">
            <div class="vehicles-bar">
              <SearchField
                label={t("vehicles.search")}
                value={filter.keyword}
                onText={(text) => set({ keyword: text }, true)}
              />
              <Select
                label={t("vehicles.use")}
                value={filter.use}
                choices={[
                  { value: "", label: t("vehicles.use.notArchived") },
                  ...USES.map((each) => ({ value: each, label: t(`vehicles.use.${each}`) })),
                  { value: "all", label: t("vehicles.use.all") },
                ]}
                onChange={(use) => set({ use: use as Filter["use"] })}
              />
              <ChooseColumns columns={columns} shown={shown.keys} onShown={shown.show} />
            </div>
            <SelectedBar
              count={rows.length}
              devices={chosen}
              groups={groups.value ?? []}
              attributes={attributes}
              mayEdit={mayEdit}
              onMove={(groupId) => void move(chosen, groupId)}
              onChanged={changed}
              onClear={() => setSelected(new Set())}
            />
            {rows.length === 0 ? (
              <Empty icon="search" title={t("common.noMatch")} />
            ) : (
              <Table
                label={t("vehicles.title")}
                columns={visible}
                rows={rows}
                keyOf={keyOf}
                sort={{ key: "name", descending: false }}
                {...(mayEdit && { selected, onSelect: setSelected })}
                onOpen={(device) => go(`/vehicles/${device.id}/settings`)}
                {...(mayEdit && {
                  onDragStart: (device: Device, event: DragEvent) => {
                    const dragged = selected.has(device.id) ? [...selected] : [device.id];
                    event.dataTransfer?.setData(DRAGGED, JSON.stringify(dragged));
                    event.dataTransfer?.setData("text/plain", device.name);
                  },
                })}
              />
            )}
          </div>
        </div>
      )}
      {isImporting && <ImportDialog onDone={changed} onClose={() => setImporting(false)} />}
    </AdminPlace>
  );
}

function filterOf(query: URLSearchParams): Filter {
  const group = query.get("groupId");
  const use = query.get("use") ?? "";
  return {
    keyword: query.get("keyword") ?? "",
    groupId: group !== null && /^\d+$/.test(group) ? Number(group) : null,
    use: use === "all" || (USES as readonly string[]).includes(use) ? (use as Use | "all") : "",
  };
}

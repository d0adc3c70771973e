import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getCounted } from "../../../api/call";
import type { DueMaintenance, Maintenance as Task } from "../../../api/types";
import { attributeWords } from "../../../format/attributeWords";
import type { Style } from "../../../format/style";
import { dateTime } from "../../../format/times";
import { distance, distanceIn, number } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { Field, Select } from "../../../parts/Field";
import { Problem } from "../../../parts/Problem";
import { Question } from "../../../parts/Question";
import { type Column, Table } from "../../../parts/Table";
import { NameField } from "../../../records/EditFields";
import type { Edit } from "../../../records/RecordDialog";
import { changeRecord } from "../../../records/records";
import { deviceNow, loaded } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { may, style } from "../../../state/session";
import { instantOfLocal, localTime } from "../../vehicle/settings/values";
import { INSTANTS, TYPES } from "./due";
import { RecordTable, seesAll, useAll } from "./RecordTable";

const BLANK: Task = { id: 0, name: "", type: "totalDistance", start: 0, period: 0, attributes: {} };
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const ORDER = ["due", "soon", "later", "never", "unknown"] as const;
/** As many as the server lists at once. */
const MOST_DUE = 1000;

/** A maintenance of a vehicle, with what it is. */
interface Due extends DueMaintenance {
  maintenance: Task;
}

/** Maintenance with what is due of which vehicle, and the reset. */
export default function Maintenance() {
  const records = useAll<Task>("/maintenance");
  const look = style.value;
  const columns = useMemo(
    (): readonly Column<Task>[] => [
      { key: "name", label: t("settings.name"), width: 12, value: ({ name }) => name },
      { key: "type", label: t("vehicles.counts"), width: 10, value: ({ type }) => typeName(type) },
      {
        key: "start",
        label: t("vehicles.firstDue"),
        width: 9,
        numeric: true,
        value: ({ start }) => start,
        cell: ({ type, start }) => amount(type, start, look),
      },
      {
        key: "period",
        label: t("vehicles.period"),
        width: 8,
        numeric: true,
        value: ({ period }) => period,
        cell: ({ type, period }) => span(type, period, look),
      },
    ],
    [look],
  );
  return (
    <RecordTable<Task>
      to="/admin/maintenance"
      path="/maintenance"
      icon="settings"
      mayEdit={may("edit")}
      records={records}
      columns={columns}
      sort={{ key: "name", descending: false }}
      nameOf={({ name }) => name}
      newLabel={t("vehicles.newMaintenance")}
      empty={{ title: t("vehicles.noMaintenance"), text: t("vehicles.noMaintenanceText") }}
      deleteText={t("vehicles.deleteMaintenanceText")}
      blank={BLANK}
      linkKey="maintenanceId"
      fields={(edit) => <Fields edit={edit} />}
    >
      {records.value && records.value.length > 0 && (
        <WhatIsDue tasks={records.value} onReset={records.reload} />
      )}
    </RecordTable>
  );
}

function Fields({ edit }: { edit: Edit<Task> }) {
  const { type, start, period } = edit.value;
  const { zone } = style.value;
  const isInstant = INSTANTS.includes(type);
  const factor = isInstant ? DAY_MS : unitOf(type, style.value);
  const amountField = (field: "start" | "period", label: string) => (
    <Field
      label={label}
      type="number"
      min="0"
      step="any"
      value={edit.value[field] ? String(Math.round((edit.value[field] / factor) * 1000) / 1000) : ""}
      hint={isInstant ? t("vehicles.days") : unitSign(type, style.value)}
      disabled={edit.disabled}
      error={edit.errorOf(field)}
      onChange={(event: { currentTarget: HTMLInputElement }) =>
        edit.set({ [field]: Number(event.currentTarget.value) * factor } as Partial<Task>)
      }
    />
  );
  const types = TYPES.includes(type) ? TYPES : [...TYPES, type];
  return (
    <>
      <NameField edit={edit} />
      <Select
        label={t("vehicles.counts")}
        value={type}
        choices={types.map((each) => ({ value: each, label: typeName(each) }))}
        error={edit.errorOf("type")}
        disabled={edit.disabled}
        onChange={(next) => edit.set({ type: next, start: 0, period: 0 })}
      />
      <div class="form-grid">
        {isInstant ? (
          <Field
            label={t("vehicles.firstDue")}
            type="datetime-local"
            hint={t("common.zone", { zone: zone.replace(/_/g, " ") })}
            value={localTime(start ? new Date(start).toISOString() : null, zone)}
            error={edit.errorOf("start")}
            onChange={(event: { currentTarget: HTMLInputElement }) =>
              edit.set({ start: Date.parse(instantOfLocal(event.currentTarget.value, zone) ?? "") || 0 })
            }
          />
        ) : (
          amountField("start", t("vehicles.firstDue"))
        )}
        {amountField("period", t("vehicles.period"))}
      </div>
      {start > 0 && period === 0 && <p class="field-hint">{t("vehicles.once")}</p>}
    </>
  );
}

/** What is due of which vehicle: the most urgent first. */
function WhatIsDue({ tasks, onReset }: { tasks: readonly Task[]; onReset: () => void }) {
  const [asked, setAsked] = useState<Due | null>(null);
  const look = style.value;
  const listed = useRef(tasks);
  const { value, problem, reload } = useLoaded("due", async (signal) => {
    const query = { all: seesAll(), limit: MOST_DUE };
    const found = await getCounted<DueMaintenance>("/maintenance/due", query, signal);
    const byId = new Map(tasks.map((each) => [each.id, each]));
    const rows = found.rows.flatMap((each): Due[] => {
      const maintenance = byId.get(each.maintenanceId);
      return maintenance ? [{ ...each, maintenance }] : [];
    });
    return { rows, total: found.total };
  });
  // Its vehicles may have changed with it.
  useEffect(() => {
    if (listed.current !== tasks) reload();
    listed.current = tasks;
  }, [tasks]);
  const columns: readonly Column<Due>[] = [
    {
      key: "vehicle",
      label: t("vehicles.vehicle"),
      width: 11,
      value: ({ deviceId }) => deviceNow(deviceId)?.name,
      cell: ({ deviceId }) => <Link to={`/vehicles/${deviceId}`}>{deviceNow(deviceId)?.name ?? ""}</Link>,
    },
    {
      key: "name",
      label: t("vehicles.maintenance"),
      width: 11,
      value: ({ maintenance }) => maintenance.name,
    },
    {
      key: "state",
      label: t("vehicles.status"),
      width: 8,
      value: ({ state }) => ORDER.indexOf(state),
      cell: ({ state }) => t(`vehicles.due.${state}`),
    },
    {
      key: "value",
      label: t("vehicles.counted"),
      width: 9,
      numeric: true,
      value: (row) => row.value,
      cell: (row) => (row.value === null ? "" : amount(row.maintenance.type, row.value, look)),
    },
    {
      key: "next",
      label: t("vehicles.nextDue"),
      width: 9,
      numeric: true,
      value: (row) => (row.next === null || row.value === null ? null : row.next - row.value),
      cell: (row) => (row.next === null ? "" : amount(row.maintenance.type, row.next, look)),
    },
    {
      key: "reset",
      label: t("vehicles.done"),
      width: 8,
      sortable: false,
      value: () => "",
      cell: (row) =>
        may("edit") && row.value !== null && row.state !== "never" ? (
          <button type="button" class="link" onClick={() => setAsked(row)}>
            {t("vehicles.reset")}
          </button>
        ) : null,
    },
  ];
  return (
    <section class="card" aria-label={t("vehicles.whatIsDue")}>
      <h2>{t("vehicles.whatIsDue")}</h2>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {value?.rows.length === 0 && <p class="card-text">{t("vehicles.nothingLinked")}</p>}
      {value && value.total > value.rows.length && (
        <p class="card-text">{t("vehicles.mostUrgent", { shown: value.rows.length, count: value.total })}</p>
      )}
      {value && value.rows.length > 0 && loaded.value && (
        <div class="vehicles-records">
          <Table
            label={t("vehicles.whatIsDue")}
            columns={columns}
            rows={value.rows}
            keyOf={({ maintenance, deviceId }) => `${maintenance.id} ${deviceId}`}
            classOf={({ state }) => (state === "due" ? "vehicles-faulty" : "")}
          />
        </div>
      )}
      {asked && (
        <Question
          title={t("vehicles.resetTitle", { name: asked.maintenance.name })}
          text={t("vehicles.resetText", {
            value: amount(asked.maintenance.type, asked.value ?? 0, look),
            name: deviceNow(asked.deviceId)?.name ?? "",
          })}
          act={t("vehicles.reset")}
          run={async () => {
            await changeRecord<Task>("/maintenance", asked.maintenance.id, (now) => ({
              ...now,
              start: asked.value ?? now.start,
            }));
            onReset();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

function typeName(type: string): string {
  if (INSTANTS.includes(type)) return t("vehicles.date");
  return attributeWords()?.attributeName(type) ?? type;
}

/** How much of the API's unit is one of what is entered. */
function unitOf(type: string, look: Style): number {
  if (isDistance(type)) return 1 / distanceIn(1, look);
  return isHours(type) ? HOUR_MS : 1;
}

function unitSign(type: string, look: Style): string {
  if (isDistance(type)) return look.distanceUnit;
  return isHours(type) ? t("vehicles.hours") : "";
}

function isDistance(type: string): boolean {
  return /distance|odometer/i.test(type);
}

function isHours(type: string): boolean {
  return /hours/i.test(type);
}

/** A value of a type, in the reader's unit. */
function amount(type: string, value: number, look: Style): string {
  if (INSTANTS.includes(type)) return value ? dateTime(value, look) : "";
  if (isDistance(type)) return distance(value, look);
  if (isHours(type)) return `${number(value / HOUR_MS, 1, look)} h`;
  return number(value, Number.isInteger(value) ? 0 : 1, look);
}

function span(type: string, value: number, look: Style): string {
  if (value === 0) return "";
  return INSTANTS.includes(type) ? `${number(value / DAY_MS, 0, look)} d` : amount(type, value, look);
}

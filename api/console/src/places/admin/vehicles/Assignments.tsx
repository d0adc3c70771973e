import { useState } from "preact/hooks";
import { get } from "../../../api/call";
import type { Driver, DriverAssignment } from "../../../api/types";
import { dateTime, shortTime } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { Field } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { Picker } from "../../../parts/Picker";
import { Problem } from "../../../parts/Problem";
import { Question } from "../../../parts/Question";
import { type Column, Table } from "../../../parts/Table";
import { EditButtons } from "../../../records/EditButtons";
import { type Edit, RecordDialog } from "../../../records/RecordDialog";
import { deleteRecord } from "../../../records/records";
import { deviceNow } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { may, style } from "../../../state/session";
import { now } from "../../../time/clock";
import { VehiclePicker } from "../../fleet/VehiclePicker";
import { instantOfLocal, localTime } from "../../vehicle/settings/values";

const PATH = "/driverassignments";
const DAY_MS = 86_400_000;
/** Days before today whose assignments are listed; later ones are listed too. */
const DAYS = 31;

/** Assignments have no attributes; forms of records know them. */
type Assignment = DriverAssignment & { attributes: { [name: string]: unknown } };

/** Who drove which vehicle as entered by hand, which counts more than cards and keys (docs/drivers.md#by-hand). */
export function Assignments({ drivers }: { drivers: readonly Driver[] }) {
  const [edited, setEdited] = useState<Assignment | "new" | null>(null);
  const [deleting, setDeleting] = useState<Assignment | null>(null);
  const { value, problem, reload } = useLoaded("driver assignments", async (signal) => {
    const from = new Date(now.peek() - DAYS * DAY_MS).toISOString();
    const found = await get<readonly DriverAssignment[]>(PATH, { from }, signal);
    return found.map((each): Assignment => ({ ...each, attributes: {} }));
  });
  const look = style.value;
  const mayEdit = may("editDevices");
  const nameOf = (id: number) => drivers.find((each) => each.id === id)?.name ?? String(id);
  const time = (key: "startTime" | "endTime", label: string): Column<Assignment> => ({
    key,
    label,
    width: 9,
    value: (each) => Date.parse(each[key]),
    cell: (each) => (
      <span title={dateTime(Date.parse(each[key]), look)}>
        {shortTime(Date.parse(each[key]), now.value, look)}
      </span>
    ),
  });
  const columns: readonly Column<Assignment>[] = [
    {
      key: "vehicle",
      label: t("vehicles.vehicle"),
      width: 9,
      value: ({ deviceId }) => deviceNow(deviceId)?.name,
      cell: ({ deviceId }) => (
        <Link to={`/vehicles/${deviceId}`}>{deviceNow(deviceId)?.name ?? deviceId}</Link>
      ),
    },
    { key: "driver", label: t("vehicles.driver"), width: 9, value: ({ driverId }) => nameOf(driverId) },
    time("startTime", t("time.from")),
    time("endTime", t("time.to")),
    {
      key: "acts",
      label: t("vehicles.acts"),
      width: 7,
      sortable: false,
      value: () => "",
      cell: (each) =>
        mayEdit && (
          <EditButtons
            name={`${deviceNow(each.deviceId)?.name ?? each.deviceId}, ${nameOf(each.driverId)}`}
            onEdit={() => setEdited(each)}
            onDelete={() => setDeleting(each)}
          />
        ),
    },
  ];
  const blank: Assignment = {
    id: 0,
    deviceId: 0,
    driverId: 0,
    startTime: new Date(now.value - (now.value % DAY_MS)).toISOString(),
    endTime: new Date(now.value - (now.value % DAY_MS) + DAY_MS).toISOString(),
    attributes: {},
  };
  return (
    <section class="card" aria-label={t("vehicles.byHand")}>
      <header class="page-head">
        <h2>{t("vehicles.byHand")}</h2>
        {mayEdit && (
          <button type="button" onClick={() => setEdited("new")}>
            <Icon name="plus" size={16} />
            {t("vehicles.newAssignment")}
          </button>
        )}
      </header>
      <p class="card-text">{t("vehicles.byHandText", { days: DAYS })}</p>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {value && value.length > 0 && (
        <div class="vehicles-records">
          <Table label={t("vehicles.byHand")} columns={columns} rows={value} keyOf={({ id }) => id} />
        </div>
      )}
      {edited && (
        <RecordDialog
          title={t("vehicles.newAssignment")}
          path="/driverassignments"
          stored={edited === "new" ? null : edited}
          blank={blank}
          isInvalid={({ deviceId, driverId }) => deviceId === 0 || driverId === 0}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            reload();
          }}
        >
          {(edit) => <Fields edit={edit} drivers={drivers} />}
        </RecordDialog>
      )}
      {deleting && (
        <Question
          title={t("vehicles.deleteAssignment")}
          text={t("vehicles.deleteAssignmentText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(PATH, deleting.id);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </section>
  );
}

function Fields({ edit, drivers }: { edit: Edit<Assignment>; drivers: readonly Driver[] }) {
  const { zone } = style.value;
  const { id, deviceId, driverId } = edit.value;
  const time = (key: "startTime" | "endTime", label: string) => (
    <Field
      label={label}
      type="datetime-local"
      hint={t("common.zone", { zone: zone.replace(/_/g, " ") })}
      value={localTime(edit.value[key], zone)}
      disabled={edit.disabled}
      error={edit.errorOf(key)}
      onInput={(event) => {
        const instant = instantOfLocal(event.currentTarget.value, zone);
        if (instant) edit.set({ [key]: instant });
      }}
    />
  );
  return (
    <>
      {/* A stored one stays with its vehicle. */}
      {id === 0 ? (
        <VehiclePicker
          label={t("vehicles.vehicle")}
          value={deviceId || null}
          onChange={(chosen) => edit.set({ deviceId: chosen ?? 0 })}
        />
      ) : (
        <p>{deviceNow(deviceId)?.name ?? deviceId}</p>
      )}
      <Picker
        label={t("vehicles.driver")}
        items={drivers.map((each) => ({ id: each.id, name: each.name, note: each.uniqueId }))}
        value={driverId || null}
        disabled={edit.disabled}
        onChange={(chosen) => edit.set({ driverId: Number(chosen ?? 0) })}
      />
      <div class="form-grid">
        {time("startTime", t("time.from"))}
        {time("endTime", t("time.to"))}
      </div>
    </>
  );
}

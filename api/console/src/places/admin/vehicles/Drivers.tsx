import { useMemo } from "preact/hooks";
import type { Driver } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { Field } from "../../../parts/Field";
import type { Column } from "../../../parts/Table";
import { NameField } from "../../../records/EditFields";
import { snapshot } from "../../../state/fleet";
import { may } from "../../../state/session";
import { useBeat } from "../../fleet/useBeat";
import { Assignments } from "./Assignments";
import { RecordTable, useAll } from "./RecordTable";

const BLANK: Driver = { id: 0, name: "", uniqueId: "", attributes: {} };

/** Drivers with the keys by which devices know them, and what each drives now. */
export default function Drivers() {
  const records = useAll<Driver>("/drivers");
  const beat = useBeat();
  const driven = useMemo(drivenNow, [beat]);
  const columns = useMemo(
    (): readonly Column<Driver>[] => [
      { key: "name", label: t("settings.name"), width: 12, value: ({ name }) => name },
      { key: "uniqueId", label: t("vehicles.driverKey"), width: 10, value: ({ uniqueId }) => uniqueId },
      {
        key: "drives",
        label: t("vehicles.drives"),
        width: 14,
        value: ({ uniqueId }) => (driven.get(uniqueId) ?? []).map(({ name }) => name).join(", "),
        cell: ({ uniqueId }) =>
          (driven.get(uniqueId) ?? []).map(({ id, name }, index) => (
            <>
              {index > 0 && ", "}
              <Link key={id} to={`/vehicles/${id}`}>
                {name}
              </Link>
            </>
          )),
      },
    ],
    [driven],
  );
  const known = new Set((records.value ?? []).map(({ uniqueId }) => uniqueId));
  const unknown = records.value ? [...driven].filter(([key]) => !known.has(key)) : [];
  return (
    <RecordTable<Driver>
      to="/admin/drivers"
      path="/drivers"
      icon="user"
      mayEdit={may("edit")}
      records={records}
      columns={columns}
      sort={{ key: "name", descending: false }}
      nameOf={({ name }) => name}
      newLabel={t("vehicles.newDriver")}
      empty={{ title: t("vehicles.noDrivers"), text: t("vehicles.noDriversText") }}
      deleteText={t("vehicles.deleteDriverText")}
      blank={BLANK}
      linkKey="driverId"
      fields={(edit) => (
        <>
          <NameField edit={edit} />
          <Field
            label={t("vehicles.driverKey")}
            hint={t("vehicles.driverKeyHint")}
            value={edit.value.uniqueId}
            maxLength={128}
            disabled={edit.disabled}
            error={edit.errorOf("uniqueId")}
            onInput={(event) => edit.set({ uniqueId: event.currentTarget.value })}
          />
        </>
      )}
    >
      {unknown.length > 0 && (
        <section class="card" aria-label={t("vehicles.unknownKeys")}>
          <h2>{t("vehicles.unknownKeys")}</h2>
          <ul class="vehicles-plain">
            {unknown.map(([key, vehicles]) => (
              <li key={key}>
                <code>{key}</code> {vehicles.map(({ name }) => name).join(", ")}
              </li>
            ))}
          </ul>
        </section>
      )}
      {may("reports") && <Assignments drivers={records.value ?? []} />}
    </RecordTable>
  );
}

/** The vehicles that are online, by the driver that their latest position names. */
function drivenNow(): ReadonlyMap<string, readonly { id: number; name: string }[]> {
  const found = new Map<string, { id: number; name: string }[]>();
  for (const { device, position } of snapshot()) {
    const key = position?.attributes.driverUniqueId;
    if (typeof key !== "string" || key === "" || device.status !== "online") continue;
    found.set(key, [...(found.get(key) ?? []), { id: device.id, name: device.name }]);
  }
  return found;
}

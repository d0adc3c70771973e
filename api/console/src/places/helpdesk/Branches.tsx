import type { Branch, Geofence } from "../../api/types";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { Picker } from "../../parts/Picker";
import { NameField, TextField } from "../../records/EditFields";
import { ArchivedCheck, RecordList } from "../../records/RecordList";
import { read, useLoaded } from "../../state/responseCache";
import type { SectionProps } from "./CompanyPlace";

/** Places of a company: contacts and vehicles belong to them, and statistics group by their zone. */
export function Branches({ company, mayEdit }: SectionProps) {
  const zones = useLoaded("zones", () => read<Geofence[]>("/geofences", { excludeAttributes: true })).value;
  const zoneOf = (id: unknown) => zones?.find((zone) => zone.id === id)?.name;
  const blank: Branch = {
    id: 0,
    companyId: company.id,
    name: "",
    uniqueId: null,
    disabled: false,
    attributes: {},
  };
  return (
    <RecordList<Branch>
      path="/branches"
      of={{ companyId: company.id }}
      mayEdit={mayEdit}
      icon="pin"
      title={t("helpdesk.branches")}
      empty={{ title: t("helpdesk.noBranches"), text: t("helpdesk.noBranchesText") }}
      newLabel={t("helpdesk.newBranch")}
      searchLabel={t("helpdesk.searchBranches")}
      deleteText={t("helpdesk.deleteBranchText")}
      blank={blank}
      note={({ uniqueId, attributes }) =>
        [attributes.zone, zoneOf(attributes.geofenceId), uniqueId].filter(Boolean).join(" · ")
      }
      fields={(edit, isNew) => (
        <>
          <NameField edit={edit} />
          <Field
            label={t("helpdesk.region")}
            hint={t("helpdesk.regionHint")}
            value={String(edit.value.attributes.zone ?? "")}
            disabled={edit.disabled}
            error={edit.errorOf("attributes.zone")}
            onInput={(event) => edit.setAttribute("zone", event.currentTarget.value || undefined)}
          />
          <Picker
            label={t("helpdesk.geofence")}
            items={(zones ?? []).map(({ id, name }) => ({ id, name }))}
            value={Number(edit.value.attributes.geofenceId ?? 0) || null}
            noneLabel={t("common.none")}
            disabled={edit.disabled}
            onChange={(id) => edit.setAttribute("geofenceId", id === null ? undefined : Number(id))}
          />
          <p class="field-hint">{t("helpdesk.geofenceHint")}</p>
          <TextField edit={edit} field="uniqueId" label={t("helpdesk.uniqueId")} />
          {!isNew && <ArchivedCheck edit={edit} hint={t("record.archivedHint")} />}
        </>
      )}
    />
  );
}

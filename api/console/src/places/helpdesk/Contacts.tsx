import type { Branch, Contact, Driver } from "../../api/types";
import { t } from "../../i18n/translate";
import { Picker } from "../../parts/Picker";
import { NameField, TextField } from "../../records/EditFields";
import { ArchivedCheck, RecordList } from "../../records/RecordList";
import { read, useLoaded } from "../../state/responseCache";
import type { SectionProps } from "./CompanyPlace";
import { useRecords } from "./records";

/** People whom tickets are handled for. */
export function Contacts({ company, mayEdit }: SectionProps) {
  const branches = useRecords<Branch>("/branches", company.id).value ?? [];
  const drivers = useLoaded("drivers", () => read<Driver[]>("/drivers", { excludeAttributes: true })).value;
  const branchOf = (id: number) => branches.find((branch) => branch.id === id)?.name;
  const blank: Contact = {
    id: 0,
    companyId: company.id,
    branchId: 0,
    userId: 0,
    driverId: 0,
    name: "",
    email: null,
    phone: null,
    uniqueId: null,
    language: null,
    timezone: null,
    disabled: false,
    attributes: {},
  };
  return (
    <RecordList<Contact>
      path="/contacts"
      of={{ companyId: company.id }}
      mayEdit={mayEdit}
      icon="user"
      title={t("helpdesk.contacts")}
      empty={{ title: t("helpdesk.noContacts"), text: t("helpdesk.noContactsText") }}
      newLabel={t("helpdesk.newContact")}
      searchLabel={t("helpdesk.searchContacts")}
      deleteText={t("helpdesk.deleteContactText")}
      blank={blank}
      note={({ email, phone, branchId }) => (
        <>
          {email && <a href={`mailto:${email}`}>{email}</a>}
          {phone && (
            <>
              {email && " · "}
              <a href={`tel:${phone.replace(/[^\d+]/g, "")}`}>{phone}</a>
            </>
          )}
          {branchOf(branchId) && `${email || phone ? " · " : ""}${branchOf(branchId)}`}
        </>
      )}
      fields={(edit, isNew) => (
        <>
          <NameField edit={edit} />
          <TextField edit={edit} field="email" type="email" label={t("helpdesk.email")} />
          <TextField edit={edit} field="phone" type="tel" label={t("helpdesk.phone")} />
          <Picker
            label={t("helpdesk.branch")}
            items={branches
              .filter(({ id, disabled }) => !disabled || id === edit.value.branchId)
              .map(({ id, name }) => ({ id, name }))}
            value={edit.value.branchId || null}
            noneLabel={t("common.none")}
            disabled={edit.disabled}
            onChange={(id) => edit.set({ branchId: Number(id ?? 0) })}
          />
          <Picker
            label={t("helpdesk.driver")}
            items={(drivers ?? []).map(({ id, name, uniqueId }) => ({ id, name, note: uniqueId }))}
            value={edit.value.driverId || null}
            noneLabel={t("common.none")}
            disabled={edit.disabled}
            onChange={(id) => edit.set({ driverId: Number(id ?? 0) })}
          />
          <TextField edit={edit} field="uniqueId" label={t("helpdesk.uniqueId")} />
          {!isNew && <ArchivedCheck edit={edit} hint={t("record.archivedHint")} />}
        </>
      )}
    />
  );
}

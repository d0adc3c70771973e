import { useId, useState } from "preact/hooks";
import type { Calendar, Device, Group } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { Field, Select } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { Picker } from "../../../parts/Picker";
import { sentenceOf } from "../../../parts/Problem";
import { toast } from "../../../parts/Toast";
import { read, useLoaded } from "../../../state/responseCache";
import { style } from "../../../state/session";
import { CATEGORIES } from "../../vehicle/settings/General";
import { instantOfLocal } from "../../vehicle/settings/values";
import { changeSeveral } from "./csv";
import { categoryName } from "./deviceTable";
import { type Failure, Results } from "./Results";

const FIELDS = [
  "groupId",
  "category",
  "model",
  "contact",
  "phone",
  "calendarId",
  "disabled",
  "expirationTime",
  "attribute",
] as const;
type FieldName = (typeof FIELDS)[number];

interface Change {
  field: FieldName;
  /** The name of an attribute. */
  name: string;
  value: string;
}

interface EditSeveralProps {
  devices: readonly Device[];
  groups: readonly Group[];
  /** Names of attributes to choose from; others can be typed. */
  attributes: readonly string[];
  onDone: () => void;
  onClose: () => void;
}

/** The same changes to several vehicles; fields that are not named stay as they are. */
export function EditSeveral({ devices, groups, attributes, onDone, onClose }: EditSeveralProps) {
  const id = useId();
  const [changes, setChanges] = useState<readonly Change[]>([{ field: "groupId", name: "", value: "" }]);
  const [done, setDone] = useState<number | null>(null);
  const [failures, setFailures] = useState<readonly Failure[] | null>(null);
  const [said, setSaid] = useState("");
  const calendars = useLoaded("calendars", () => read<Calendar[]>("/calendars"));
  const isBusy = done !== null;
  const close = () => {
    if (failures) onDone();
    onClose();
  };

  async function save(event: SubmitEvent) {
    event.preventDefault();
    setSaid("");
    setDone(0);
    try {
      const columns = new Map(changes.map((each) => [columnOf(each), each.value]));
      const result = await changeSeveral(devices, columns, setDone);
      const faulty = result.rows.filter(({ faults }) => faults.length > 0);
      if (faulty.length > 0)
        setFailures(
          faulty.map((row) => ({ name: row.name, text: row.faults.map(({ text }) => text).join("; ") })),
        );
      else {
        toast(t("vehicles.changed", { count: result.updated }));
        onDone();
        onClose();
      }
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setDone(null);
  }

  const set = (index: number, change: Partial<Change>) =>
    setChanges(changes.map((each, at) => (at === index ? { ...each, ...change } : each)));
  const isNamed = changes.every(({ field, name }) => field !== "attribute" || name.trim() !== "");
  return (
    <Dialog
      title={t("vehicles.editTitle", { count: devices.length })}
      wide
      {...(!isBusy && { onClose: close })}
      actions={
        failures ? (
          <button type="button" class="primary" autofocus onClick={close}>
            {t("common.close")}
          </button>
        ) : (
          <button type="submit" form={id} class="primary" disabled={isBusy || !isNamed}>
            {t("common.save")}
          </button>
        )
      }
    >
      {failures ? (
        <Results failures={failures} />
      ) : (
        <form id={id} class="vehicles-changes" onSubmit={(event) => void save(event)}>
          {changes.map((change, index) => (
            <fieldset key={`${index} ${change.field}`} class="vehicles-change">
              <legend class="hidden">{t("vehicles.change", { number: index + 1 })}</legend>
              <Select
                label={t("vehicles.field")}
                value={change.field}
                choices={FIELDS.filter(
                  (field) =>
                    field === change.field ||
                    field === "attribute" ||
                    !changes.some((each) => each.field === field),
                ).map((field) => ({ value: field, label: fieldName(field) }))}
                disabled={isBusy}
                onChange={(field) =>
                  set(index, { field: field as FieldName, value: field === "disabled" ? "true" : "" })
                }
              />
              {change.field === "attribute" && (
                <Field
                  label={t("vehicles.attribute")}
                  value={change.name}
                  maxLength={128}
                  {...{ list: `${id}-attributes` }}
                  onInput={(event: { currentTarget: HTMLInputElement }) =>
                    set(index, { name: event.currentTarget.value })
                  }
                />
              )}
              <ValueField
                change={change}
                groups={groups}
                calendars={calendars.value ?? []}
                onChange={(value) => set(index, { value })}
              />
              {changes.length > 1 && (
                <button
                  type="button"
                  class="icon-button"
                  aria-label={t("vehicles.dropChange")}
                  onClick={() => setChanges(changes.filter((_, at) => at !== index))}
                >
                  <Icon name="close" size={16} />
                </button>
              )}
            </fieldset>
          ))}
          <datalist id={`${id}-attributes`}>
            {attributes.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <button
            type="button"
            class="quiet"
            disabled={isBusy}
            onClick={() => {
              const unused = FIELDS.find((field) => !changes.some((each) => each.field === field));
              setChanges([
                ...changes,
                { field: unused ?? "attribute", name: "", value: unused === "disabled" ? "true" : "" },
              ]);
            }}
          >
            <Icon name="plus" size={16} />
            {t("vehicles.addChange")}
          </button>
          {isBusy && <p role="status">{t("vehicles.progress", { count: done })}</p>}
          {said && (
            <p class="refusal" role="alert">
              {said}
            </p>
          )}
        </form>
      )}
    </Dialog>
  );
}

interface ValueFieldProps {
  change: Change;
  groups: readonly Group[];
  calendars: readonly Calendar[];
  onChange: (value: string) => void;
}

function ValueField({ change, groups, calendars, onChange }: ValueFieldProps) {
  const { field, value } = change;
  const label = t("vehicles.value");
  if (field === "groupId" || field === "calendarId") {
    const items = field === "groupId" ? groups : calendars;
    return (
      <Picker
        label={label}
        items={items.map(({ id, name }) => ({ id, name }))}
        value={value ? Number(value) : null}
        noneLabel={t("common.none")}
        onChange={(id) => onChange(id === null ? "" : String(id))}
      />
    );
  }
  if (field === "category") {
    const choices = CATEGORIES.map((each) => ({ value: each as string, label: categoryName(each) }));
    return (
      <Select
        label={label}
        value={value}
        choices={[{ value: "", label: t("common.none") }, ...choices]}
        onChange={onChange}
      />
    );
  }
  if (field === "disabled") {
    return (
      <Select
        label={label}
        value={value}
        choices={[
          { value: "true", label: t("common.yes") },
          { value: "false", label: t("common.no") },
        ]}
        onChange={onChange}
      />
    );
  }
  if (field === "expirationTime") {
    const { zone } = style.value;
    return (
      <Field
        label={label}
        type="datetime-local"
        max="9999-12-31T23:59"
        hint={t("common.zone", { zone: zone.replace(/_/g, " ") })}
        onChange={(event: { currentTarget: HTMLInputElement }) =>
          onChange(instantOfLocal(event.currentTarget.value, zone) ?? "")
        }
      />
    );
  }
  return (
    <Field
      label={label}
      value={value}
      placeholder={t("vehicles.emptied")}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function columnOf({ field, name }: Change): string {
  return field === "attribute" ? `attributes.${name.trim()}` : field;
}

function fieldName(field: FieldName): string {
  switch (field) {
    case "groupId":
      return t("vehicle.group");
    case "category":
      return t("settings.category");
    case "disabled":
      return t("settings.disabled");
    case "expirationTime":
      return t("settings.expires");
    case "calendarId":
      return t("vehicles.calendar");
    case "attribute":
      return t("vehicles.attribute");
    default:
      return t(`vehicle.${field}`);
  }
}

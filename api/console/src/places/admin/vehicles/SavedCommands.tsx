import { useMemo, useState } from "preact/hooks";
import type { Command, CommandType } from "../../../api/types";
import { attributesOf, kindOf, offered } from "../../../commands/fields";
import { savedName, typeName } from "../../../commands/names";
import { t } from "../../../i18n/translate";
import { Check, Select } from "../../../parts/Field";
import type { Column } from "../../../parts/Table";
import { TextField } from "../../../records/EditFields";
import type { Edit } from "../../../records/RecordDialog";
import { read, useLoaded } from "../../../state/responseCache";
import { may, server } from "../../../state/session";
import { Entry } from "../../vehicle/commands/CommandForm";
import { RecordTable, useAll } from "./RecordTable";

const BLANK: Command = {
  id: 0,
  deviceId: 0,
  description: null,
  type: "positionSingle",
  textChannel: false,
  attributes: {},
};

/** Commands that are kept, to be sent by those who may send no others, by schedules and by notifications. */
export default function SavedCommands() {
  const records = useAll<Command>("/commands");
  const columns = useMemo(
    (): readonly Column<Command>[] => [
      { key: "name", label: t("settings.name"), width: 12, value: savedName },
      { key: "type", label: t("vehicles.type"), width: 10, value: ({ type }) => typeName(type) },
      {
        key: "attributes",
        label: t("vehicles.values"),
        width: 14,
        value: ({ type, attributes }) => valuesText(type, attributes),
      },
      {
        key: "text",
        label: t("vehicles.byText"),
        width: 7,
        value: ({ textChannel }) => (textChannel ? t("common.yes") : ""),
      },
    ],
    [],
  );
  return (
    <RecordTable<Command>
      to="/admin/commands"
      path="/commands"
      icon="command"
      mayEdit={may("edit") && may("anyCommand")}
      records={records}
      columns={columns}
      sort={{ key: "name", descending: false }}
      nameOf={savedName}
      newLabel={t("vehicles.newCommand")}
      empty={{ title: t("vehicles.noCommands"), text: t("vehicles.noCommandsText") }}
      deleteText={t("vehicles.deleteCommandText")}
      blank={BLANK}
      linkKey="commandId"
      isInvalid={({ type, attributes }) =>
        Object.keys(attributesOf(kindOf(type), enteredOf(type, attributes)).refusals).length > 0
      }
      fields={(edit) => <Fields edit={edit} />}
    />
  );
}

function Fields({ edit }: { edit: Edit<Command> }) {
  const { type, attributes } = edit.value;
  const types = useLoaded("commandTypes", () => read<CommandType[]>("/commands/types"));
  const known = offered((types.value ?? []).map((each) => each.type));
  const kind = kindOf(type);
  const [entered, setEntered] = useState(() => enteredOf(type, attributes));
  const { refusals } = attributesOf(kind, entered);
  const others = Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !kind.fields.some((field) => field.name === name)),
  );
  const enter = (next: Record<string, string>, to = type) => {
    const made = attributesOf(kindOf(to), next);
    // What is wrong stays as it was typed, so that it is not saved.
    const wrong = Object.fromEntries(Object.keys(made.refusals).map((name) => [name, next[name] ?? ""]));
    setEntered(next);
    edit.set({ type: to, attributes: { ...(to === type && others), ...made.attributes, ...wrong } });
  };
  return (
    <>
      <TextField edit={edit} field="description" label={t("settings.name")} />
      <Select
        label={t("vehicles.type")}
        value={type}
        choices={(known.includes(type) ? known : [type, ...known]).map((each) => ({
          value: each,
          label: typeName(each),
        }))}
        error={edit.errorOf("type")}
        disabled={edit.disabled}
        onChange={(next) => enter(enteredOf(next, {}), next)}
      />
      {kind.fields.map((field) => (
        <Entry
          key={`${type} ${field.name}`}
          field={field}
          value={entered[field.name] ?? ""}
          refusal={refusals[field.name] ? t(refusals[field.name] ?? "command.needed") : undefined}
          onInput={(value) => enter({ ...entered, [field.name]: value })}
        />
      ))}
      {server.value?.textEnabled && (
        <Check
          label={t("vehicles.byText")}
          hint={t("vehicles.byTextHint")}
          checked={edit.value.textChannel}
          disabled={edit.disabled}
          onChange={(textChannel) => edit.set({ textChannel })}
        />
      )}
    </>
  );
}

/** What the fields of a type show of attributes; of a new one what they begin with. */
function enteredOf(type: string, attributes: Command["attributes"]): Record<string, string> {
  const isNew = Object.keys(attributes).length === 0;
  return Object.fromEntries(
    kindOf(type).fields.map(({ name, times = 1, initial = "" }) => {
      const value = attributes[name];
      if (value === undefined) return [name, isNew ? initial : ""];
      return [name, typeof value === "number" ? String(value / times) : String(value)];
    }),
  );
}

function valuesText(type: string, attributes: Command["attributes"]): string {
  const entered = enteredOf(type, attributes);
  return kindOf(type)
    .fields.filter(({ name }) => entered[name])
    .map(({ name, label }) => `${t(label)}: ${entered[name]}`)
    .join(" · ");
}

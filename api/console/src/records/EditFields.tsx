import { t } from "../i18n/translate";
import { Field } from "../parts/Field";
import type { Edit } from "./RecordDialog";

interface Named {
  id: number;
  name: string;
  attributes: { [name: string]: unknown };
}

/** The name of a record. */
export function NameField<T extends Named>({ edit }: { edit: Edit<T> }) {
  return (
    <Field
      label={t("record.name")}
      value={edit.value.name}
      maxLength={128}
      autofocus
      disabled={edit.disabled}
      error={edit.errorOf("name")}
      onInput={(event) => edit.set({ name: event.currentTarget.value } as Partial<T>)}
    />
  );
}

interface TextFieldProps<T> {
  edit: Edit<T>;
  /** A field of the record that is text or null. */
  field: keyof T & string;
  label: string;
  type?: "email" | "tel" | "text";
}

/** A text of a record, which may be empty. */
export function TextField<T>({ edit, field, label, type = "text" }: TextFieldProps<T>) {
  return (
    <Field
      label={label}
      type={type}
      value={String(edit.value[field] ?? "")}
      disabled={edit.disabled}
      error={edit.errorOf(field)}
      onInput={(event) => edit.set({ [field]: event.currentTarget.value || null } as Partial<T>)}
    />
  );
}

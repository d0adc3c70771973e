import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { merged } from "../state/edits";
import { style } from "../state/session";
import { useDraft } from "./drafts";
import "./records.css";
import { Conflict, type RefusedField, refusedField, saveRecord } from "./records";

/** What the fields of a form read and change. */
export interface Edit<T> {
  value: T;
  set: (change: Partial<T>) => void;
  /** Undefined removes the attribute. */
  setAttribute: (name: string, value: unknown) => void;
  /** What the server says of a field, by its name in the API. */
  errorOf: (key: string) => string | undefined;
  disabled: boolean;
}

interface Editable {
  id: number;
  attributes: { [name: string]: unknown };
}

interface RecordDialogProps<T extends Editable> {
  title: string;
  /** Of the records, such as `/teams`. */
  path: string;
  /** What is edited; null for a new one. */
  stored: T | null;
  /** What a new one begins with. */
  blank: T;
  onClose: () => void;
  onSaved: (saved: T) => void;
  children: (edit: Edit<T>) => ComponentChildren;
  wide?: boolean;
  /** What cannot be saved as it is; the fields say why. */
  isInvalid?: (value: T) => boolean;
  /** Buttons beside *Save*. */
  acts?: ComponentChildren;
}

/** A form of one record in a dialog. What was typed stays when it is closed, until it is saved or dropped. */
export function RecordDialog<T extends Editable>(props: RecordDialogProps<T>) {
  const { title, path, stored, blank, onClose, onSaved, children } = props;
  const id = useId();
  const companyId = (blank as { companyId?: unknown }).companyId ?? 0;
  const [base, setBase] = useState<T | null>(stored);
  const draft = useDraft<T>(`${path} ${stored?.id ?? `new ${companyId}`}`, base ?? blank);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const [theirs, setTheirs] = useState<readonly string[]>([]);
  const shown = new Set<string>();

  async function save(event: SubmitEvent) {
    event.preventDefault();
    // The form of a dialog that is opened from another form is not that of the other.
    event.stopPropagation();
    if (busy) return;
    setBusy(true);
    setRefused(null);
    setTheirs([]);
    try {
      const saved = await saveRecord(path, base, draft.value);
      draft.clear();
      toast(t("common.saved"));
      onSaved(saved);
    } catch (problem) {
      if (problem instanceof Conflict && base) {
        const other = problem.theirs as T;
        draft.set(merged(base, draft.value, other));
        setBase(other);
        setTheirs(problem.fields.map((field) => field.replace(/^attributes\./, "")));
      } else setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
    } finally {
      setBusy(false);
    }
  }

  const edit: Edit<T> = {
    value: draft.value,
    set: draft.set,
    setAttribute: (name, value) => {
      const { [name]: _, ...others } = draft.value.attributes;
      const attributes = value === undefined ? others : { ...others, [name]: value };
      draft.set({ attributes } as unknown as Partial<T>);
    },
    errorOf: (key) => {
      shown.add(key);
      return refused?.key === key ? refused.text : undefined;
    },
    disabled: busy,
  };
  const fields = children(edit);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      {...(props.wide && { wide: true })}
      actions={
        <>
          {props.acts}
          <button
            type="submit"
            form={id}
            class="primary"
            disabled={busy || !(draft.isChanged || !base) || props.isInvalid?.(draft.value)}
          >
            {t("common.save")}
          </button>
        </>
      }
    >
      <form id={id} class="record-form" noValidate onSubmit={(event) => void save(event)}>
        {draft.wasKept && (
          <p class="record-kept" role="status">
            {t("record.kept")}{" "}
            <button type="button" class="link" onClick={draft.clear}>
              {t("record.dropKept")}
            </button>
          </p>
        )}
        {fields}
        {theirs.length > 0 && (
          <p class="refusal" role="alert">
            {t("record.conflict", { fields: new Intl.ListFormat(style.value.language).format(theirs) })}
          </p>
        )}
        {refused && !shown.has(refused.key) && (
          <p class="refusal" role="alert">
            {refused.key ? `${refused.key}: ${refused.text}` : refused.text}
          </p>
        )}
      </form>
    </Dialog>
  );
}

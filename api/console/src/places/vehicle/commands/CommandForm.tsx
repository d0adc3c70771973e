import { useEffect, useId, useRef, useState } from "preact/hooks";
import { attributesOf, type CommandField, kindOf, type Refusals } from "../../../commands/fields";
import { t } from "../../../i18n/translate";
import { Check, Field } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { device } from "../../../state/fleet";
import { server } from "../../../state/session";
import type { Offer } from "./Chooser";

interface CommandFormProps {
  id: number;
  offer: Offer;
  onBack: () => void;
  onSend: (attributes: Record<string, string | number>, textChannel: boolean) => void;
}

/** The fields of a type of command; own text can also go by text message. */
export function CommandForm({ id, offer, onBack, onSend }: CommandFormProps) {
  const kind = kindOf(offer.type);
  const [entered, setEntered] = useState<Record<string, string>>(() =>
    Object.fromEntries(kind.fields.map((field) => [field.name, field.initial ?? ""])),
  );
  const [refusals, setRefusals] = useState<Refusals>({});
  const [sms, setSms] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const title = useId();
  const phone = device(id).value?.phone;
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea")?.focus(), []);

  function submit(event: Event) {
    event.preventDefault();
    const made = attributesOf(kind, entered);
    setRefusals(made.refusals);
    if (Object.keys(made.refusals).length === 0) onSend(made.attributes, sms);
  }

  return (
    <section class="card" aria-labelledby={title}>
      <div class="command-form-head">
        <button
          type="button"
          class="icon-button"
          aria-label={t("command.all")}
          title={t("command.all")}
          onClick={onBack}
        >
          <Icon name="back" />
        </button>
        <h2 id={title}>{offer.name}</h2>
      </div>
      <form
        ref={form}
        class="command-form"
        noValidate
        onSubmit={submit}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onBack();
          } else if (event.key === "Enter" && event.ctrlKey) submit(event);
        }}
      >
        {kind.fields.map((field) => (
          <Entry
            key={field.name}
            field={field}
            value={entered[field.name] ?? ""}
            refusal={refusals[field.name] ? t(refusals[field.name] ?? "command.needed") : undefined}
            onInput={(value) => setEntered({ ...entered, [field.name]: value })}
          />
        ))}
        {offer.type === "custom" && phone && server.value?.textEnabled && (
          <Check label={t("command.sms", { phone })} checked={sms} onChange={setSms} />
        )}
        <div class="button-row">
          <button type="submit" class="primary">
            {t("command.send")}
          </button>
          <button type="button" class="quiet" onClick={onBack}>
            {t("common.cancel")}
          </button>
        </div>
      </form>
    </section>
  );
}

export interface EntryProps {
  field: CommandField;
  value: string;
  refusal: string | undefined;
  onInput: (value: string) => void;
}

/** A field of a command. */
export function Entry({ field, value, refusal, onInput }: EntryProps) {
  const id = useId();
  const hint = field.hint && t(field.hint);
  if (field.kind !== "lines") {
    return (
      <Field
        label={t(field.label)}
        hint={hint}
        error={refusal}
        inputMode={field.kind === "number" ? "decimal" : undefined}
        maxLength={field.maxLength}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    );
  }
  const notes = [refusal && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{t(field.label)}</label>
      <textarea
        id={id}
        rows={3}
        maxLength={field.maxLength}
        aria-describedby={notes || undefined}
        aria-invalid={refusal ? true : undefined}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {refusal && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {refusal}
        </p>
      )}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

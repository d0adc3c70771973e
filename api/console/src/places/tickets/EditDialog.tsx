import { useState } from "preact/hooks";
import type { Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";

interface EditProps {
  ticket: Ticket;
  onClose: () => void;
  onSave: (fields: { subject?: string; description?: string }) => void;
}

/** Changes the texts of a ticket; only what is different is sent. */
export function EditDialog({ ticket, onClose, onSave }: EditProps) {
  const [subject, setSubject] = useState(ticket.subject);
  const [description, setDescription] = useState(ticket.description ?? "");
  return (
    <Dialog title={t("tickets.editText")} onClose={onClose}>
      <form
        class="ticket-new"
        onSubmit={(event) => {
          event.preventDefault();
          onSave({
            ...(subject !== ticket.subject && { subject }),
            ...(description !== (ticket.description ?? "") && { description }),
          });
        }}
      >
        <Field
          label={t("tickets.field.subject")}
          value={subject}
          maxLength={255}
          required
          autofocus
          onInput={(event) => setSubject(event.currentTarget.value)}
        />
        <label class="field">
          <span>{t("tickets.field.description")}</span>
          <textarea
            rows={6}
            maxLength={20_000}
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          {t("common.save")}
        </button>
      </form>
    </Dialog>
  );
}

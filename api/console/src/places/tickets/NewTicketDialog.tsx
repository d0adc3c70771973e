import { useState } from "preact/hooks";
import { post } from "../../api/call";
import type { NewTicket, Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { Picker } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { go } from "../../router";
import { positionNow } from "../../state/fleet";
import { VehiclePicker } from "../fleet/VehiclePicker";
import type { Desk } from "./company";

/** A dialog that makes a ticket, and goes to it. */
export function NewTicketDialog({ desk, onClose }: { desk: Desk; onClose: () => void }) {
  const [subject, setSubject] = useState("");
  const [description, setDescription] = useState("");
  const [deviceId, setDeviceId] = useState<number | null>(null);
  const [categoryId, setCategoryId] = useState(0);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const positionId = deviceId === null ? 0 : (positionNow(deviceId)?.id ?? 0);
    const ticket: NewTicket = {
      companyId: desk.company.id,
      subject,
      description,
      deviceId: deviceId ?? 0,
      positionId,
      categoryId,
      channel: "web",
    };
    try {
      const { id } = await post<Ticket>("/tickets", ticket);
      onClose();
      go(`/tickets/${id}`);
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
  }
  return (
    <Dialog title={t("tickets.make")} onClose={onClose}>
      <form class="ticket-new" onSubmit={(event) => void submit(event)}>
        <Field
          label={t("ticket.subject")}
          value={subject}
          maxLength={255}
          required
          autofocus
          error={said || undefined}
          onInput={(event) => setSubject(event.currentTarget.value)}
        />
        <VehiclePicker
          label={t("event.vehicle")}
          value={deviceId}
          noneLabel={t("common.none")}
          onChange={setDeviceId}
        />
        <Picker
          label={t("tickets.field.category")}
          items={desk.categories.filter(({ disabled }) => !disabled).map(({ id, name }) => ({ id, name }))}
          value={categoryId || null}
          noneLabel={t("common.none")}
          onChange={(id) => setCategoryId(Number(id ?? 0))}
        />
        <label class="field">
          <span>{t("tickets.field.description")}</span>
          <textarea
            rows={4}
            maxLength={20_000}
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          {t("event.ticket")}
        </button>
      </form>
    </Dialog>
  );
}

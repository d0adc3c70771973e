import { useState } from "preact/hooks";
import { post } from "../api/call";
import type { Company, Ticket } from "../api/types";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { Field } from "../parts/Field";
import { Picker } from "../parts/Picker";
import { sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { position } from "../state/fleet";
import { showTicket } from "./showTicket";
import "./tickets.css";

/** Characters that the server takes. */
const LONGEST_SUBJECT = 255;

interface NewTicketProps {
  deviceId: number;
  /** The companies that the reader may make tickets for. */
  companies: readonly Company[];
  onClose: () => void;
}

/** A dialog that makes a ticket about a vehicle, with its position of that moment. */
export default function NewTicket({ deviceId, companies, onClose }: NewTicketProps) {
  const [subject, setSubject] = useState("");
  const [companyId, setCompanyId] = useState(companies.length === 1 ? (companies[0]?.id ?? null) : null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (busy || companyId === null) return;
    setBusy(true);
    try {
      const positionId = position(deviceId).peek()?.id ?? 0;
      const ticket = { companyId, subject, deviceId, positionId, channel: "web" };
      const made = await post<Ticket>("/tickets", ticket);
      toast(t("event.ticketMade", { number: made.number }), "good", showTicket(made));
      onClose();
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
  }
  return (
    <Dialog title={t("event.ticket")} onClose={onClose}>
      <form class="ticket-new" onSubmit={(event) => void submit(event)}>
        <Field
          label={t("ticket.subject")}
          value={subject}
          maxLength={LONGEST_SUBJECT}
          required
          autofocus
          error={said || undefined}
          onInput={(event) => setSubject(event.currentTarget.value)}
        />
        {companies.length > 1 && (
          <Picker
            label={t("event.company")}
            items={companies.map(({ id, name }) => ({ id, name }))}
            value={companyId}
            onChange={(id) => setCompanyId(id === null ? null : Number(id))}
          />
        )}
        <button type="submit" class="primary" disabled={busy || companyId === null}>
          {t("event.ticket")}
        </button>
      </form>
    </Dialog>
  );
}

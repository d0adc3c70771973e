import { useEffect, useState } from "preact/hooks";
import { get } from "../api/call";
import type { Ticket } from "../api/types";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { Field } from "../parts/Field";
import { Icon } from "../parts/Icon";
import { Problem, sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { useLoaded } from "../state/responseCache";
import { addEvidence, type Evidence } from "./evidence";
import { showTicket } from "./showTicket";
import { useCompanies } from "./useCompanies";
import "./tickets.css";

/** Tickets that are listed. */
const LISTED = 20;
const REST_MS = 300;

interface AttachProps {
  /** Whose tickets are offered first. */
  deviceId: number;
  /** What is added; a function makes it once a ticket is chosen. */
  evidence: Evidence | (() => Promise<Evidence>);
  /** Called when a ticket has it. */
  onAdded?: () => void;
}

/** A button that adds evidence to a ticket that is chosen; nothing for those who see no tickets. */
export function AttachTicket(props: AttachProps) {
  const [open, setOpen] = useState(false);
  if (!useCompanies()?.length) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        <Icon name="plus" size={18} />
        {t("ticket.attach")}
      </button>
      {open && <ChooseTicket {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A dialog of open tickets, those of the vehicle or those that hold the words: the chosen one gets the evidence. */
export function ChooseTicket({
  deviceId,
  evidence,
  onAdded,
  onClose,
}: AttachProps & { onClose: () => void }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const keyword = useRested(text.trim());
  const found = useLoaded(`attach ${deviceId} ${keyword}`, (signal) => {
    const query = keyword ? { keyword } : { deviceId };
    return get<Ticket[]>("/tickets", { ...query, open: true, limit: LISTED }, signal);
  });

  async function add(ticket: Ticket): Promise<void> {
    setBusy(true);
    try {
      await addEvidence(ticket, typeof evidence === "function" ? await evidence() : evidence);
      toast(t("event.added", { number: ticket.number }), "good", showTicket(ticket));
      onClose();
      onAdded?.();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
    }
  }
  return (
    <Dialog title={t("ticket.attach")} onClose={onClose}>
      <Field
        label={t("ticket.find")}
        type="search"
        maxLength={128}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {found.problem !== null && <Problem problem={found.problem} onRetry={found.reload} />}
      {found.value?.length === 0 && (
        <p class="faint">{t(keyword ? "ticket.noneFound" : "ticket.noneOfVehicle")}</p>
      )}
      {found.value && found.value.length > 0 && <h3>{t(keyword ? "ticket.found" : "ticket.ofVehicle")}</h3>}
      <ul class="ticket-choice" aria-label={t("event.tickets")}>
        {found.value?.map((ticket) => (
          <li key={ticket.id}>
            <button type="button" class="quiet" disabled={busy} onClick={() => void add(ticket)}>
              #{ticket.number} {ticket.subject}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** A text once it has rested. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

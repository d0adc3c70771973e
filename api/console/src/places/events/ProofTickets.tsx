import { useState } from "preact/hooks";
import type { TicketEvent } from "../../api/types";
import { dateTime } from "../../format/times";
import { bytes } from "../../format/units";
import { hasText, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Dialog } from "../../parts/Dialog";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { style } from "../../state/session";
import type { Kept, Tickets } from "./useTickets";

interface MakeTicketProps {
  /** Whether it is what the page is for at the moment: not while the event waits for review. */
  isFirst: boolean;
  tickets: Tickets;
  /** Make a ticket of a company. */
  onMake: (companyId: number) => void;
  choosing: boolean;
  onChoose: (choosing: boolean) => void;
}

/** A button that makes a ticket at once; whoever works for several companies is asked for which. */
export function MakeTicket({ isFirst, tickets, onMake, choosing, onChoose }: MakeTicketProps) {
  const { companies = [], busy } = tickets;
  const [company, setCompany] = useState<number | null>(null);
  const [only] = companies;
  if (!only) return null;
  const begin = () => (companies.length > 1 ? onChoose(true) : onMake(only.id));
  return (
    <>
      <button
        type="button"
        class={isFirst ? "primary" : undefined}
        disabled={busy}
        title={t("event.ticketText")}
        onClick={begin}
      >
        <Icon name="plus" size={18} />
        {t("event.ticket")}
      </button>
      {choosing && (
        <Dialog
          title={t("event.ticket")}
          onClose={() => onChoose(false)}
          actions={
            <button
              type="button"
              class="primary"
              disabled={company === null}
              onClick={() => {
                onChoose(false);
                if (company !== null) onMake(company);
              }}
            >
              {t("event.ticket")}
            </button>
          }
        >
          <p>{t("event.companyText")}</p>
          <Picker
            label={t("event.company")}
            items={companies.map(({ id, name }) => ({ id, name }))}
            value={company}
            onChange={(id) => setCompany(id === null ? null : Number(id))}
          />
        </Dialog>
      )}
    </>
  );
}

/** The tickets of an event with their evidence. */
export function ProofTickets({ kept }: { kept: readonly Kept[] }) {
  if (kept.length === 0) return null;
  return (
    <section class="proof-section" aria-label={t("event.tickets")}>
      <h2>{t("event.tickets")}</h2>
      {kept.map(({ ticket, entries }) => (
        <div key={ticket.id} class="proof-ticket">
          <h3>
            <Link to={`/tickets/${ticket.id}`}>
              {t("event.ticketOf", { number: ticket.number, subject: ticket.subject })}
            </Link>
            <span class="badge">{kindName(ticket.statusKind)}</span>
          </h3>
          <ul aria-label={t("event.evidence", { number: ticket.number })}>
            {entries.map((entry) => (
              <li key={entry.id}>
                <Entry of={entry} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Entry({ of: { attributes } }: { of: TicketEvent }) {
  const { fileName, size, sha256, status, reason, positionSnapshot } = attributes;
  if (typeof fileName === "string") {
    return (
      <>
        <span class="proof-file-name">{fileName}</span>
        {typeof size === "number" && <span>{bytes(size, style.value)}</span>}
        {typeof sha256 === "string" && <code>{sha256}</code>}
        {status === "RECORDING" && <span class="faint">{t("event.evidenceRecording")}</span>}
        {typeof reason === "string" && <span class="faint">{reason}</span>}
      </>
    );
  }
  const time = (positionSnapshot as { time?: unknown } | undefined)?.time;
  if (typeof time === "string")
    return <>{t("event.evidencePosition", { time: dateTime(Date.parse(time), style.value) })}</>;
  return <>{typeof reason === "string" ? reason : String(status ?? "")}</>;
}

function kindName(kind: string): string {
  const key = `ticket.${kind}`;
  return hasText(key) ? t(key) : kind;
}

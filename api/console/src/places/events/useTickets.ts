import { useState } from "preact/hooks";
import { get, post } from "../../api/call";
import type { Company, Event, Ticket, TicketEvent } from "../../api/types";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { useLoaded } from "../../state/responseCache";
import { addEvidence, type Evidence, type EvidenceFile } from "../../tickets/evidence";
import { showTicket } from "../../tickets/showTicket";
import { useCompanies } from "../../tickets/useCompanies";
import type { Film, VehicleFile } from "./proof";

/** A ticket of an event, and what its history has as evidence. */
export interface Kept {
  ticket: Ticket;
  entries: readonly TicketEvent[];
}

export interface Tickets {
  /** The companies that the reader may make tickets for; undefined until they are known. */
  companies: readonly Company[] | undefined;
  kept: readonly Kept[];
  busy: boolean;
  /** Make a ticket of a company, with this evidence. */
  make: (companyId: number, subject: string, evidence: Evidence) => void;
  add: (ticket: Ticket, files: readonly EvidenceFile[]) => void;
  reload: () => void;
}

/** The tickets of an event, and what can be done with them. */
export function useTickets(event: Event): Tickets {
  const [busy, setBusy] = useState(false);
  const companies = useCompanies();
  const known = companies !== undefined && companies.length > 0;
  const kept = useLoaded(`tickets ${event.id} ${known}`, async (signal): Promise<readonly Kept[]> => {
    if (!known) return [];
    const tickets = await get<Ticket[]>("/tickets", { eventId: event.id, limit: 20 }, signal);
    return Promise.all(
      tickets.map(async (ticket) => ({
        ticket,
        entries: await get<TicketEvent[]>(`/tickets/${ticket.id}/events`, { type: "evidence" }, signal),
      })),
    );
  });

  async function run(act: () => Promise<void>) {
    if (busy) return;
    setBusy(true);
    try {
      await act();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
    kept.reload();
  }

  return {
    companies: companies?.filter(({ disabled }) => !disabled),
    kept: kept.value ?? [],
    busy,
    reload: kept.reload,
    make: (companyId, subject, evidence) =>
      void run(async () => {
        const { deviceId, id, positionId, geofenceId, maintenanceId } = event;
        const ticket = await post<Ticket>("/tickets", {
          companyId,
          subject,
          deviceId,
          eventId: id,
          positionId,
          geofenceId,
          maintenanceId,
          channel: "web",
        });
        const { number } = ticket;
        try {
          await addEvidence(ticket, { ...evidence, positionId });
          toast(t("event.ticketMade", { number }), "good", showTicket(ticket));
        } catch (problem) {
          toast(t("event.ticketPartly", { number, reason: sentenceOf(problem) }), "bad");
        }
      }),
    add: (ticket, files) =>
      void run(async () => {
        await addEvidence(ticket, { files });
        toast(t("event.added", { number: ticket.number }), "good", showTicket(ticket));
      }),
  };
}

/** What a ticket gets of the files of a vehicle and of films. */
export function evidenceOf(
  deviceId: number,
  files: readonly VehicleFile[],
  films: readonly Film[],
): Required<Pick<Evidence, "files" | "captureIds">> {
  const kept = films.filter(({ state }) => state === "kept");
  const names = [...files.map(({ name }) => name), ...kept.flatMap(({ fileName }) => fileName ?? [])];
  return {
    files: [...new Set(names)].map((fileName) => ({ deviceId, fileName })),
    captureIds: films.flatMap(({ state, captureId }) => (state === "fetching" && captureId) || []),
  };
}

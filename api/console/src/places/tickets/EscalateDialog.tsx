import { useState } from "preact/hooks";
import { post, put } from "../../api/call";
import type { Ticket, TicketEvent } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Select } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import type { Desk } from "./company";

interface EscalateProps {
  desk: Desk;
  ticket: Ticket;
  onClose: () => void;
  onDone: () => void;
}

/** Gives a ticket to another team with a higher priority: those that its priority names for a breach come first. */
export function EscalateDialog({ desk, ticket, onClose, onDone }: EscalateProps) {
  const [teamId, setTeamId] = useState(() => goalOf(desk, ticket).teamId);
  const [priorityId, setPriorityId] = useState(() => goalOf(desk, ticket).priorityId);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const isSame = teamId === ticket.teamId && priorityId === ticket.priorityId;

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (busy || isSame) return;
    setBusy(true);
    try {
      await put<Ticket>(`/tickets/${ticket.id}`, {
        ...(teamId !== ticket.teamId && { teamId }),
        ...(priorityId !== ticket.priorityId && { priorityId }),
        version: ticket.version,
      });
      if (reason.trim())
        await post<TicketEvent>(`/tickets/${ticket.id}/comments`, { text: reason.trim(), internal: true });
      toast(t("tickets.escalatedDone", { number: ticket.number }));
      onDone();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
    }
  }
  return (
    <Dialog title={t("tickets.escalate")} onClose={onClose}>
      <form class="ticket-new" onSubmit={(event) => void submit(event)}>
        <p class="faint">{t("tickets.escalateText")}</p>
        <Select
          label={t("tickets.field.team")}
          value={String(teamId)}
          choices={[
            { value: "0", label: t("common.none") },
            ...desk.teams
              .filter(({ id, disabled }) => !disabled || id === ticket.teamId)
              .map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(id) => setTeamId(Number(id))}
        />
        <Select
          label={t("tickets.field.priority")}
          value={String(priorityId)}
          choices={[
            ...(ticket.priorityId === 0 ? [{ value: "0", label: t("tickets.noPriority") }] : []),
            ...desk.priorities
              .filter(({ id, disabled }) => !disabled || id === ticket.priorityId)
              .map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(id) => setPriorityId(Number(id))}
        />
        <label class="field">
          <span>{t("tickets.escalateReason")}</span>
          <textarea
            rows={3}
            maxLength={20_000}
            autofocus
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy || isSame}>
          {t("tickets.escalate")}
        </button>
      </form>
    </Dialog>
  );
}

/** Where the priority of a ticket would have it go when it breaches; else one priority higher. Pure. */
export function goalOf(
  { priorities, teams }: Pick<Desk, "priorities" | "teams">,
  ticket: Pick<Ticket, "priorityId" | "teamId">,
): { teamId: number; priorityId: number } {
  const present = priorities.find(({ id }) => id === ticket.priorityId);
  const named = (name: string) => Number(present?.attributes[name]) || 0;
  const usable = priorities.filter(({ disabled }) => !disabled);
  const higher = usable.filter(({ level }) => present === undefined || level < present.level).at(-1);
  const team = teams.find(({ id, disabled }) => id === named("escalateTeamId") && !disabled);
  const priority = usable.find(({ id }) => id === named("escalatePriorityId"));
  return {
    teamId: team?.id ?? ticket.teamId,
    priorityId: priority?.id ?? higher?.id ?? ticket.priorityId,
  };
}

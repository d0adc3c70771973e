/** What somebody has begun to write in a ticket, kept in this tab until it is sent. */

import { keepForTab, readForTab } from "../../state/userStorage";

export type Draft = {
  mode: "reply" | "note";
  text: string;
};

export function readDraft(ticketId: number): Draft {
  const kept = readForTab(keyOf(ticketId)) as Partial<Draft> | null;
  if (kept && typeof kept.text === "string")
    return { mode: kept.mode === "note" ? "note" : "reply", text: kept.text };
  return { mode: "reply", text: "" };
}

export function keepDraft(ticketId: number, draft: Draft): void {
  keepForTab(keyOf(ticketId), draft.text === "" ? null : draft);
}

function keyOf(ticketId: number): string {
  return `draft.ticket.${ticketId}`;
}

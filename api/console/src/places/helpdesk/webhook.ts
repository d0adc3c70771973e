/** The webhook of a company, as its attribute has it (docs/ticket-webhooks.md). */

export interface Hook {
  url: string;
  /** The types of messages that are wanted. */
  events: readonly string[];
  thin: boolean;
  disabled: boolean;
  disabledReason: string;
}

export const TYPES = [
  "ticket.created",
  "ticket.updated",
  "ticket.status_changed",
  "ticket.assigned",
  "ticket.commented",
  "ticket.noted",
  "ticket.sla_warning",
  "ticket.sla_breached",
  "ticket.escalated",
  "ticket.deleted",
] as const;
/** What is sent where nothing is said: all but notes of the team. */
export const USUAL_TYPES: readonly string[] = TYPES.filter((type) => type !== "ticket.noted");
export const STATES = ["waiting", "delivered", "failed", "dropped"] as const;

/** The webhook of these attributes; null if there is none. */
export function hookOf(attributes: { [name: string]: unknown }): Hook | null {
  const found = attributes.ticketWebhook;
  if (typeof found !== "object" || found === null) return null;
  const given = found as { [name: string]: unknown };
  return {
    url: typeof given.url === "string" ? given.url : "",
    events: Array.isArray(given.events) ? given.events.map(String) : USUAL_TYPES,
    thin: given.thin === true,
    disabled: given.disabled === true,
    disabledReason: typeof given.disabledReason === "string" ? given.disabledReason : "",
  };
}

/** A secret of 32 bytes, as Standard Webhooks writes it. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** The company whose tickets the reader works on, and what it configures. */

import { signal } from "@preact/signals";
import type {
  Company,
  CompanyUser,
  Team,
  TicketCategory,
  TicketPriority,
  TicketStatus,
} from "../../api/types";
import { location } from "../../router";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { may, session } from "../../state/session";
import { keepForUser, readForUser } from "../../state/userStorage";

const KEY = "tickets.company";
const picked = signal(0);

/** What a company has for its tickets, and what the reader is in it. */
export interface Desk {
  company: Company;
  /** In the order of the board. */
  statuses: readonly TicketStatus[];
  /** The most urgent first. */
  priorities: readonly TicketPriority[];
  categories: readonly TicketCategory[];
  teams: readonly Team[];
  /** Those of whom the reader knows; agents know all who are linked to the company. */
  people: readonly CompanyUser[];
  /** Whether the reader handles tickets: moves and gives them, and sees notes. */
  handles: boolean;
  manages: boolean;
}

/** The companies of the reader by name. */
export function useMyCompanies(): Loaded<readonly Company[]> {
  return useLoaded("my companies", () => read<Company[]>("/companies", { excludeAttributes: true }));
}

/** The company of the address, else the one chosen last, else the first. */
export function companyOf(companies: readonly Company[]): Company | undefined {
  const wished = [Number(location.value.query.get("companyId")), picked.value, Number(readForUser(KEY))];
  const usable = companies.filter(({ disabled }) => !disabled);
  for (const id of wished) {
    const found = companies.find((each) => each.id === id);
    if (found) return found;
  }
  return usable[0] ?? companies[0];
}

/** Have tickets of a company shown from now on. */
export function chooseCompany(id: number): void {
  picked.value = id;
  keepForUser(KEY, id);
}

/** What a company configures; nothing for id 0. */
export function useDesk(companyId: number): Loaded<Desk | null> {
  return useLoaded(`desk ${companyId}`, () =>
    companyId === 0 ? Promise.resolve(null) : readDesk(companyId),
  );
}

async function readDesk(companyId: number): Promise<Desk> {
  const of = { companyId };
  const [company, statuses, priorities, categories, teams, people] = await Promise.all([
    read<Company>(`/companies/${companyId}`),
    read<TicketStatus[]>("/ticketstatuses", of),
    read<TicketPriority[]>("/ticketpriorities", of),
    read<TicketCategory[]>("/ticketcategories", of),
    read<Team[]>("/teams", of),
    read<CompanyUser[]>(`/companies/${companyId}/users`),
  ]);
  const me = people.find(({ id }) => id === session.peek()?.id);
  const manages = may("administer") || (me?.manager ?? false);
  return {
    company,
    statuses: [...statuses].sort((one, other) => one.sortOrder - other.sortOrder || one.id - other.id),
    priorities: [...priorities].sort((one, other) => one.level - other.level || one.id - other.id),
    categories,
    teams,
    people,
    manages,
    handles: may("edit") && (manages || (me?.agent ?? false)),
  };
}

export function statusOf(desk: Desk, id: number): TicketStatus | undefined {
  return desk.statuses.find((each) => each.id === id);
}

/** The statuses that may follow one (docs/tickets.md#workflow); without `next` any. Pure. */
export function following(statuses: readonly TicketStatus[], from: number): readonly TicketStatus[] {
  const next = statuses.find(({ id }) => id === from)?.attributes.next;
  const allowed = Array.isArray(next) ? new Set(next.map(Number)) : null;
  return statuses.filter(({ id, disabled }) => id !== from && !disabled && (allowed?.has(id) ?? true));
}

/** Whom a ticket may be given to: members of its team, without a team everybody of the company. Pure. */
export function assignable(desk: Pick<Desk, "people">, teamId: number): readonly CompanyUser[] {
  return desk.people.filter(
    ({ disabled, teamIds }) => !disabled && (teamId === 0 || teamIds.includes(teamId)),
  );
}

/** The name of somebody of the company; what the history has, or a number, for others. */
export function personName(desk: Pick<Desk, "people">, id: number): string {
  if (id === 0) return "";
  const found = desk.people.find((each) => each.id === id);
  const me = session.value;
  return found?.name || found?.email || (me?.id === id && (me.name || me.email)) || `#${id}`;
}

/** The reader's id. */
export function myId(): number {
  return session.value?.id ?? 0;
}

/** Which tickets a list shows: the filters of its address, with the names of `GET /tickets`. Pure. */

import type { Query } from "../../api/call";
import { withQuery } from "../../router";
import { parseInstant } from "../../time/spans";

export const LIST = "/tickets/list";
export const SORTS = ["nextDue", "-updatedAt", "-createdAt", "createdAt", "level", "-number"] as const;
export type Sort = (typeof SORTS)[number];
export const KINDS = ["new", "open", "pending", "resolved", "closed", "cancelled"] as const;

/** Parameters that name rows, by id; 0 is none. */
export const REFERENCES = [
  "assigneeId",
  "teamId",
  "statusId",
  "priorityId",
  "categoryId",
  "deviceId",
  "contactId",
  "reporterId",
] as const;
export type Reference = (typeof REFERENCES)[number];

export interface TicketFilters {
  /** 0 is the one that the reader has chosen. */
  companyId: number;
  references: Readonly<Partial<Record<Reference, readonly number[]>>>;
  /** Statuses of these kinds; none is all. */
  kinds: readonly string[];
  /** In a status that is worked on, any other, or all. */
  open: boolean | null;
  overdue: boolean;
  escalated: boolean;
  /** Minutes within which a target is due; 0 does not count. */
  dueWithin: number;
  /** Created in this span of instants, without its end; empty ends do not count. */
  from: string;
  to: string;
  /** Zones of branches. */
  zones: readonly string[];
  /** Whether those of the categories below are among them. */
  includeChildren: boolean;
  keyword: string;
  sort: Sort;
}

export const NO_FILTERS: TicketFilters = {
  companyId: 0,
  references: {},
  kinds: [],
  open: true,
  overdue: false,
  escalated: false,
  dueWithin: 0,
  from: "",
  to: "",
  zones: [],
  includeChildren: true,
  keyword: "",
  sort: "nextDue",
};

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): TicketFilters {
  const references: Partial<Record<Reference, readonly number[]>> = {};
  for (const name of REFERENCES) {
    const ids = query.getAll(name).map(Number).filter(isId);
    if (ids.length > 0 && query.getAll(name).every((text) => text !== "")) references[name] = ids;
  }
  const within = Number(query.get("dueWithin"));
  return {
    companyId: Number(query.get("companyId")) || 0,
    references,
    kinds: KINDS.filter((kind) => query.getAll("kind").includes(kind)),
    open: query.get("open") === "any" ? null : query.get("open") !== "false",
    overdue: query.get("overdue") === "true",
    escalated: query.get("escalated") === "true",
    dueWithin: isId(within) ? within : 0,
    from: instantOf(query.get("from")),
    to: instantOf(query.get("to")),
    zones: query.getAll("zone"),
    includeChildren: query.get("includeChildren") !== "false",
    keyword: query.get("keyword") ?? "",
    sort: SORTS.find((each) => each === query.get("sort")) ?? "nextDue",
  };
}

/** The address of a list with these filters. */
export function addressOf(filters: TicketFilters): string {
  const query = new URLSearchParams();
  if (filters.companyId) query.set("companyId", String(filters.companyId));
  for (const name of REFERENCES)
    for (const id of filters.references[name] ?? []) query.append(name, String(id));
  for (const kind of filters.kinds) query.append("kind", kind);
  if (filters.open === null) query.set("open", "any");
  if (filters.open === false) query.set("open", "false");
  if (filters.overdue) query.set("overdue", "true");
  if (filters.escalated) query.set("escalated", "true");
  if (filters.dueWithin) query.set("dueWithin", String(filters.dueWithin));
  if (filters.from) query.set("from", filters.from);
  if (filters.to) query.set("to", filters.to);
  for (const zone of filters.zones) query.append("zone", zone);
  if (!filters.includeChildren) query.set("includeChildren", "false");
  if (filters.keyword) query.set("keyword", filters.keyword);
  if (filters.sort !== "nextDue") query.set("sort", filters.sort);
  return withQuery(LIST, query);
}

/** What to ask the server for at an instant. */
export function requestOf(filters: TicketFilters, companyId: number, now: number): Query {
  const { references, kinds, open, overdue, escalated, dueWithin, from, to, zones, keyword, sort } = filters;
  return {
    companyId,
    ...references,
    kind: kinds,
    // Kinds say more.
    ...(kinds.length === 0 && { open }),
    ...(overdue && { overdue }),
    ...(escalated && { escalated }),
    ...(dueWithin > 0 && { dueBefore: new Date(now + dueWithin * 60_000).toISOString() }),
    ...(from && { from }),
    ...(to && { to }),
    zone: zones,
    ...(!filters.includeChildren && { includeChildren: false }),
    keyword: keyword.trim().slice(0, 128),
    sort,
  };
}

/** How many filters are set besides the order and that tickets are worked on. */
export function setIn(filters: TicketFilters): number {
  const references = REFERENCES.reduce((sum, name) => sum + (filters.references[name]?.length ?? 0), 0);
  const flags = [
    filters.overdue,
    filters.escalated,
    filters.dueWithin > 0,
    filters.from !== "" || filters.to !== "",
    !filters.includeChildren,
    filters.open !== true,
  ];
  return references + filters.kinds.length + filters.zones.length + flags.filter(Boolean).length;
}

/** With a row of a parameter, or without it where it was there. */
export function toggled(filters: TicketFilters, name: Reference, id: number): TicketFilters {
  const before = filters.references[name] ?? [];
  const ids = before.includes(id) ? before.filter((each) => each !== id) : [...before, id];
  const { [name]: _, ...others } = filters.references;
  return { ...filters, references: ids.length > 0 ? { ...others, [name]: ids } : others };
}

/** An instant with its zone as it stands; empty for all else. */
function instantOf(text: string | null): string {
  return text && parseInstant(text) !== null ? text : "";
}

function isId(id: number): boolean {
  return Number.isSafeInteger(id) && id >= 0;
}

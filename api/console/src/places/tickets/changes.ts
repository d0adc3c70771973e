/** Tickets that change: by others, whom the socket tells of, and by the reader. */

import { useEffect, useRef } from "preact/hooks";
import { get, post, put } from "../../api/call";
import { connection, listen } from "../../api/socket";
import type { EditedTicket, NewTransition, Ticket } from "../../api/types";

/** Changes that come close together are read at once. */
const REST_MS = 800;
/** Without the socket, lists are read again this often while the page is looked at. */
const EVERY_MS = 15_000;

/** Call `onChange` when tickets of a company may have changed: a moment after the socket says so, else every 15 s. */
export function useTicketChanges(companyId: number, onChange: () => void): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (companyId === 0) return undefined;
    let rest = 0;
    const soon = () => {
      rest ||= window.setTimeout(() => {
        rest = 0;
        latest.current();
      }, REST_MS);
    };
    const end = listen(({ tickets }) => {
      // None are named where some may be missing.
      if (tickets && (tickets.length === 0 || tickets.some((each) => each.companyId === companyId))) soon();
    });
    const timer = window.setInterval(() => {
      if (!document.hidden && connection.peek() !== "open") latest.current();
    }, EVERY_MS);
    const seen = () => {
      if (!document.hidden) soon();
    };
    document.addEventListener("visibilitychange", seen);
    return () => {
      end();
      clearTimeout(rest);
      clearInterval(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [companyId]);
}

/** What a reader does to a ticket at once: move it, or change some of its fields. */
export type Change =
  | { kind: "move"; statusId: number; comment?: string; internal?: boolean }
  | { kind: "edit"; fields: EditedTicket };

/** Somebody else has changed meanwhile what the reader was about to change. */
export class Conflict extends Error {
  readonly theirs: Ticket;

  constructor(theirs: Ticket) {
    super("");
    this.theirs = theirs;
  }
}

/**
 * Do a change to a ticket as the reader has seen it. What others changed besides does not hinder it; the same field
 * does, and throws a `Conflict`.
 */
export async function applyChange(seen: Ticket, change: Change): Promise<Ticket> {
  try {
    return await send(seen, change, seen.version);
  } catch (problem) {
    const theirs = await get<Ticket>(`/tickets/${seen.id}`).catch(() => null);
    if (!theirs || theirs.version === seen.version) throw problem;
    if (touched(change).some((name) => !isSame(seen[name], theirs[name]))) throw new Conflict(theirs);
    return send(theirs, change, theirs.version);
  }
}

async function send({ id }: Ticket, change: Change, version: number): Promise<Ticket> {
  if (change.kind === "edit") return put<Ticket>(`/tickets/${id}`, { ...change.fields, version });
  const { statusId, comment, internal } = change;
  const body: NewTransition = { statusId, version, ...(comment && { comment, internal: internal ?? false }) };
  return post<Ticket>(`/tickets/${id}/transition`, body);
}

/** The fields that a change sets. */
export function touched(change: Change): readonly (keyof Ticket)[] {
  return change.kind === "move" ? ["statusId"] : (Object.keys(change.fields) as (keyof Ticket)[]);
}

/** The change that brings back what was before. */
export function undoing(before: Ticket, change: Change): Change {
  if (change.kind === "move") return { kind: "move", statusId: before.statusId };
  const fields = Object.fromEntries(touched(change).map((name) => [name, before[name]]));
  return { kind: "edit", fields: fields as EditedTicket };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Requests at the same time. */
const AT_ONCE = 4;

export interface Result {
  before: Ticket;
  after: Ticket | null;
  problem: unknown;
}

/** Do a change to each of several tickets, four at a time. The results are in the order of the tickets. */
export async function applyToAll(
  tickets: readonly Ticket[],
  changeOf: (ticket: Ticket) => Change,
  onEach: (result: Result) => void = () => {},
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function work() {
    for (let index = next++; index < tickets.length; index = next++) {
      const before = tickets[index] as Ticket;
      let result: Result;
      try {
        result = { before, after: await applyChange(before, changeOf(before)), problem: null };
      } catch (problem) {
        result = { before, after: null, problem };
      }
      results[index] = result;
      onEach(result);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

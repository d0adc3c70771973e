/** Which cards stand in a column of the board. Pure. */

import type { Ticket } from "../../api/types";

/**
 * The tickets of a column as it was read, with what was moved here since: what came stands first. `more` is by how many
 * the number of tickets differs from what was read.
 */
export function placed(
  read: readonly Ticket[],
  changed: ReadonlyMap<number, Ticket>,
  statusId: number,
): { rows: readonly Ticket[]; more: number } {
  const newest = (ticket: Ticket) => {
    const mine = changed.get(ticket.id);
    return mine && mine.version > ticket.version ? mine : ticket;
  };
  const present = read.map(newest);
  const stays = present.filter((ticket) => ticket.statusId === statusId);
  const ids = new Set(read.map(({ id }) => id));
  const came = [...changed.values()].filter((ticket) => ticket.statusId === statusId && !ids.has(ticket.id));
  return { rows: [...came, ...stays], more: came.length - (present.length - stays.length) };
}

/** Lists of events that grow at both ends: older pages below, what is new above. */

import type { ListedEvent } from "../../api/types";

/** Events of a page. */
export const PAGE = 100;
/** So many are listed at most. */
export const MOST = 3000;

export interface Listed {
  events: readonly ListedEvent[];
  /** Whether there are older ones in the span. */
  more: boolean;
}

/** The newest first, at one instant by descending id, as the server lists them. */
function before(one: ListedEvent, other: ListedEvent): number {
  return Date.parse(other.eventTime) - Date.parse(one.eventTime) || other.id - one.id;
}

/** A list with an older page below it. */
export function extended({ events }: Listed, page: readonly ListedEvent[]): Listed {
  const known = new Set(events.map(({ id }) => id));
  const all = [...events, ...page.filter(({ id }) => !known.has(id))].slice(0, MOST);
  return { events: all, more: page.length === PAGE && all.length < MOST };
}

/**
 * A list with the newest page over it, which may hold events that are new or came late. Where the page does not
 * reach down to what is known, there may be others between them, and the page is all that is listed.
 */
export function renewed(list: Listed, page: readonly ListedEvent[]): Listed {
  const known = new Set(list.events.map(({ id }) => id));
  const added = page.filter(({ id }) => !known.has(id));
  if (added.length === 0) return list;
  if (page.length === PAGE && added.length === page.length) return { events: page, more: true };
  const events = [...added, ...list.events].sort(before);
  return { events: events.slice(0, MOST), more: list.more || events.length > MOST };
}

/** A row of a list: an event, and how many of the same kind it stands for besides. */
export interface EventLine {
  event: ListedEvent;
  others: number;
}

/** Types of which several in a row say no more than one: each camera that is watched is a command with its answer. */
const JOINED = new Set(["media", "commandResult"]);

/** The rows of a list: files and answers that a vehicle sent one after the other share the row of the last one. */
export function linesOf(events: readonly ListedEvent[]): readonly EventLine[] {
  const lines: { event: ListedEvent; others: number }[] = [];
  for (const event of events) {
    const last = lines.at(-1);
    if (last && isSame(last.event, event)) {
      last.others += 1;
    } else lines.push({ event, others: 0 });
  }
  return lines;
}

function isSame(one: ListedEvent, other: ListedEvent): boolean {
  return (
    JOINED.has(other.type) &&
    one.type === other.type &&
    one.deviceId === other.deviceId &&
    one.attributes.result === other.attributes.result
  );
}

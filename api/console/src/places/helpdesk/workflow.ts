/** Which status may follow which, as `attributes.next` of statuses says it. Pure. */

interface Status {
  id: number;
  attributes: { [name: string]: unknown };
}

/** The ids that may follow a status; null: any. */
export function nextOf({ attributes }: Status): readonly number[] | null {
  const { next } = attributes;
  return Array.isArray(next) ? next.filter((id): id is number => typeof id === "number") : null;
}

/** Whether one status may follow another. */
export function mayFollow(from: Status, toId: number): boolean {
  const next = nextOf(from);
  return from.id !== toId && (next === null || next.includes(toId));
}

/** What `next` becomes when `toId` is allowed after a status or not. `all` are the statuses of the company. */
export function withNext(
  from: Status,
  toId: number,
  isAllowed: boolean,
  all: readonly Status[],
): readonly number[] {
  const others = all.map(({ id }) => id).filter((id) => id !== from.id);
  const now = nextOf(from) ?? others;
  return isAllowed ? [...new Set([...now, toId])] : now.filter((id) => id !== toId);
}

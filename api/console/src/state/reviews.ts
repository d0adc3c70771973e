/** Events that wait for review (docs/events.md#review), kept up to date by the socket. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { get, put } from "../api/call";
import type { Message } from "../api/socket";
import type { Event, ListedEvent, Review } from "../api/types";
import { may } from "./session";

export type ReviewState = Review["state"];

/** Of each severity so many are read; of more the newest. */
const MOST = 500;
const SEVERITIES = ["CRITICAL", "WARNING"] as const;
/** Requests that change reviews at the same time. */
const AT_ONCE = 4;
/** Reviews of other events that are kept for lists. */
const MOST_KNOWN = 5000;

const byId = signal<ReadonlyMap<number, ListedEvent>>(new Map());
const known = signal<ReadonlyMap<number, Review>>(new Map());
const isRead = signal(false);
const isCut = signal(false);
let reading = new AbortController();
/** What arrived since the present reading began. */
let during: Event[] = [];

/** What waits, the most severe first, then the newest. */
export const waiting: ReadonlySignal<readonly ListedEvent[]> = computed(() =>
  [...byId.value.values()].sort(byUrgency),
);
export const waitingCount: ReadonlySignal<number> = computed(() => byId.value.size);
/** The same by device. */
export const waitingByDevice: ReadonlySignal<ReadonlyMap<number, readonly ListedEvent[]>> = computed(() => {
  const found = new Map<number, ListedEvent[]>();
  for (const event of waiting.value) {
    const of = found.get(event.deviceId);
    if (of) of.push(event);
    else found.set(event.deviceId, [event]);
  }
  return found;
});
/** Whether it was read; more wait than were read. */
export const waitingRead: ReadonlySignal<boolean> = isRead;
export const moreWait: ReadonlySignal<boolean> = isCut;

/** The review of an event as far as the page knows it, which may be newer than the event. */
export function reviewOf({ id, review }: Pick<Event, "id" | "review">): Review | null {
  const newer = known.value.get(id);
  return newer && review && newer.version >= review.version ? newer : review;
}

/** Read what waits; with `details` also where it happened, which driver it was, and a picture. */
export async function loadWaiting(details = false): Promise<void> {
  if (!may("reports")) return;
  reading.abort();
  reading = new AbortController();
  during = [];
  const { signal: ended } = reading;
  const found = await Promise.all(
    SEVERITIES.map((severity) =>
      get<ListedEvent[]>(
        "/events",
        { state: "OPEN", severity, limit: MOST, ...(details && { places: true, details: true }) },
        ended,
      ),
    ),
  );
  if (ended.aborted) return;
  batch(() => {
    const before = byId.peek();
    const open = found.flat().filter(({ review }) => review?.state === "OPEN");
    byId.value = new Map(open.map((event) => [event.id, details ? event : withDetails(event, before)]));
    isCut.value = found.some((each) => each.length >= MOST);
    isRead.value = true;
    take(during);
  });
}

/** Take over the reviews of a message. An empty list says that some may be missing. */
export function applyReviews({ reviews }: Message): void {
  if (!reviews || !may("reports")) return;
  if (reviews.length > 0) take(reviews);
  else void loadWaiting().catch(() => {});
}

/**
 * Set the state of events for everybody, a few at a time. They look changed at once; those that others have reviewed
 * meanwhile, or that failed, are read again. Returns the ones that were changed, and the first problem.
 */
export async function reviewEvents(
  events: readonly Event[],
  state: ReviewState,
  note: string | null,
): Promise<{ done: readonly Event[]; problem: unknown }> {
  const queue = events.flatMap((event) => {
    const review = reviewOf(event);
    return review ? [{ ...event, review }] : [];
  });
  take(queue.map((event) => ({ ...event, review: { ...event.review, state, note } })));
  const done: Event[] = [];
  let problem: unknown = null;
  async function work() {
    for (let event = queue.shift(); event; event = queue.shift()) {
      const { id, review } = event;
      try {
        const changed = await put<Event>(`/events/${id}/review`, { state, note, version: review.version });
        take([changed]);
        done.push(changed);
      } catch (failure) {
        problem ??= failure;
        take([await get<Event>(`/events/${id}`).catch(() => event as Event)]);
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, problem };
}

function take(events: readonly Event[]): void {
  const open = new Map(byId.peek());
  const all = new Map(known.peek());
  for (const event of events) {
    const { id, review } = event;
    const before = all.get(id);
    // Two reviews may be told in either order.
    if (!review || (before && before.version > review.version)) continue;
    all.delete(id);
    all.set(id, review);
    if (review.state === "OPEN") open.set(id, withDetails(event, open));
    else open.delete(id);
  }
  for (const id of [...all.keys()].slice(0, Math.max(0, all.size - MOST_KNOWN))) all.delete(id);
  if (during !== events) during.push(...events);
  batch(() => {
    byId.value = open;
    known.value = all;
  });
}

/** An event with what is known of it besides. */
function withDetails(event: Event, from: ReadonlyMap<number, ListedEvent>): ListedEvent {
  const { place = null, driverUniqueId = null, picture = null } = from.get(event.id) ?? {};
  return { place, driverUniqueId, picture, ...event };
}

function byUrgency(one: Event, other: Event): number {
  return (
    Number(other.severity === "CRITICAL") - Number(one.severity === "CRITICAL") ||
    Date.parse(other.eventTime) - Date.parse(one.eventTime) ||
    other.id - one.id
  );
}

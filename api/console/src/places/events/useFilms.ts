import { useEffect } from "preact/hooks";
import { get, post, remove } from "../../api/call";
import type { Capture, Event, Footage } from "../../api/types";
import { useLoaded } from "../../state/saved";
import { type Film, filmSpan, filmsOf } from "./proof";

const POLL_MS = 3000;

export interface Films {
  /** Undefined until they are known. */
  films: readonly Film[] | undefined;
  problem: unknown;
  reload: () => void;
}

/** The films of an event; asked for again while one is on its way. */
export function useFilms(event: Event): Films {
  const { deviceId } = event;
  const found = useLoaded(`films ${event.id}`, async (signal) => {
    const [requests, captures] = await Promise.all([
      get<Footage[]>("/footagerequests", { deviceId }, signal),
      get<Capture[]>("/captures", { deviceId }, signal),
    ]);
    return filmsOf(event, requests, captures);
  });
  const open = found.value?.some(({ state }) => state === "waiting" || state === "fetching") ?? false;
  useEffect(() => {
    if (!open) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) found.reload();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [open, found.reload]);
  return { films: found.value, problem: found.problem, reload: found.reload };
}

/** Have the film of a camera fetched once the vehicle is online. */
export async function fetchFilm(event: Event, channel: number): Promise<void> {
  const { from, to } = filmSpan(Date.parse(event.eventTime));
  const [startTime, endTime] = [from, to].map((instant) => new Date(instant).toISOString());
  await post("/footagerequests", { deviceId: event.deviceId, channel, startTime, endTime });
}

/** Take a film back that has not come. */
export function cancelFilm(requestId: number): Promise<void> {
  return remove(`/footagerequests/${requestId}`);
}

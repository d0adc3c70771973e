import { useCallback, useEffect, useState } from "preact/hooks";
import { address, get, Problem } from "../../../api/call";
import type { Event, StopItem, TripItem } from "../../../api/types";
import type { Track } from "../../../map/track";
import { TrackWorker } from "../../../map/trackWorker";
import { type Loaded, useLoaded } from "../../../state/responseCache";
import { checkSession } from "../../../state/session";
import { instantText, type Span } from "../../../time/spans";

/** Limit of the server for one page. */
const MOST_EVENTS = 1000;

export interface Day {
  trips: readonly TripItem[];
  stops: readonly StopItem[];
  /** Ordered by their times. */
  events: readonly Event[];
  /** There are older events in the span than these. */
  moreEvents: boolean;
}

/** What a vehicle did in a span. */
export function useDay(deviceId: number, span: Span): Loaded<Day> {
  return useLoaded(`day ${deviceId} ${span.from} ${span.to}`, async (signal) => {
    const query = { deviceId, ...ends(span) };
    const [trips, stops, events] = await Promise.all([
      get<TripItem[]>("/reports/trips", query, signal),
      get<StopItem[]>("/reports/stops", query, signal),
      get<Event[]>("/events", { ...query, limit: MOST_EVENTS }, signal),
    ]);
    events.sort((one, other) => Date.parse(one.eventTime) - Date.parse(other.eventTime) || one.id - other.id);
    return { trips, stops, events, moreEvents: events.length === MOST_EVENTS };
  });
}

export interface TrackState {
  /** Undefined until it has been read. */
  track: Track | undefined;
  worker: TrackWorker | null;
  problem: unknown;
  reload: () => void;
}

/** The fixes of a vehicle in a span. */
export function useTrack(deviceId: number, { from, to }: Span): TrackState {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<Omit<TrackState, "reload"> & { key: string }>(nothing(""));
  const key = `${deviceId} ${from} ${to}`;
  useEffect(() => {
    const worker = new TrackWorker();
    let gone = false;
    setState(nothing(key));
    worker.load(address("/positions", { deviceId, ...ends({ from, to }) })).then(
      (track) => {
        if (!gone) setState({ key, track, worker, problem: null });
      },
      (problem: unknown) => {
        if (gone) return;
        setState({ ...nothing(key), problem });
        if (problem instanceof Problem && problem.status === 401) void checkSession();
      },
    );
    return () => {
      gone = true;
      worker.close();
    };
  }, [key, count]);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  return { ...(state.key === key ? state : nothing(key)), reload };
}

function nothing(key: string) {
  return { key, track: undefined, worker: null, problem: null };
}

/** A span as the API takes it: both ends count there, and the next day's first instant is not of this day. */
export function ends({ from, to }: Span): { from: string; to: string } {
  return { from: instantText(from), to: instantText(to - 1) };
}

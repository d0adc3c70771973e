import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Query } from "../../api/call";
import type { ListedEvent } from "../../api/types";
import { recentEvents } from "../../state/events";
import { waiting } from "../../state/reviews";
import { style } from "../../state/session";
import { type EventFilters, isOpen, requestOf } from "./filters";
import { extended, type Listed, PAGE, renewed } from "./pages";

const REFRESH_MS = 30_000;
/** Events that arrive by the socket are asked for once in this time. */
const ARRIVED_MS = 1000;

interface Events extends Partial<Listed> {
  problem: unknown;
  /** Ask for older ones. */
  readMore: () => void;
  reload: () => void;
}

/** The events of a list, page by page; new ones come to its top while its span ends with the present. */
export function useEvents(key: string, filters: EventFilters): Events {
  const [list, setList] = useState<Listed | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [count, setCount] = useState(0);
  const abort = useRef(new AbortController());
  const busy = useRef(false);
  /** Older ones were asked for meanwhile. */
  const waits = useRef(false);

  async function ask(change: Query, then: (page: readonly ListedEvent[]) => void) {
    const { signal } = abort.current;
    // What is chosen stays relative to the present.
    const query = requestOf(filters, Date.now(), style.peek().zone);
    if (!query || busy.current) return;
    busy.current = true;
    try {
      const page = await get<ListedEvent[]>(
        "/events",
        { ...query, limit: PAGE, places: true, ...change },
        signal,
      );
      if (signal.aborted) return;
      setProblem(null);
      then(page);
    } catch (failure) {
      if (!signal.aborted) setProblem(failure);
    } finally {
      if (!signal.aborted) busy.current = false;
    }
    if (signal.aborted || !waits.current) return;
    waits.current = false;
    // With the list as it is then.
    setTimeout(() => older.current());
  }
  const refresh = useRef(() => {});
  refresh.current = () =>
    void ask({}, (page) =>
      setList((before) => (before ? renewed(before, page) : extended({ events: [], more: true }, page))),
    );

  const older = useRef(() => {});
  older.current = () => {
    const last = list?.events.at(-1);
    if (!last || !list?.more) return;
    if (busy.current) waits.current = true;
    else
      void ask({ to: last.eventTime, beforeId: last.id }, (page) =>
        setList((before) => before && extended(before, page)),
      );
  };

  useEffect(() => {
    abort.current = new AbortController();
    busy.current = false;
    waits.current = false;
    setList(null);
    setProblem(null);
    refresh.current();
    const open = isOpen(filters);
    const timer = setInterval(() => {
      if (open && !document.hidden) refresh.current();
    }, REFRESH_MS);
    let arrived = 0;
    let first = true;
    const end = effect(() => {
      recentEvents.value;
      waiting.value;
      if (open && !first) arrived ||= window.setTimeout(renew, ARRIVED_MS);
      first = false;
    });
    function renew() {
      arrived = 0;
      refresh.current();
    }
    return () => {
      abort.current.abort();
      clearInterval(timer);
      clearTimeout(arrived);
      end();
    };
  }, [key, count]);

  return {
    ...list,
    problem,
    readMore: () => older.current(),
    reload: () => setCount((before) => before + 1),
  };
}

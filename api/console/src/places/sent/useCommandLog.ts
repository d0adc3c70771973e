import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../../api/call";
import { listen, onOpen } from "../../api/socket";
import type { LoggedCommand } from "../../api/types";
import { type Filters, merged, requestOf } from "./log";

export interface CommandLog {
  /** The newest first; undefined until the first are known. */
  items: readonly LoggedCommand[] | undefined;
  more: boolean;
  busy: boolean;
  problem: unknown;
  readMore: () => void;
  reload: () => void;
}

interface State {
  items: readonly LoggedCommand[];
  more: boolean;
}

/** The log of commands page by page, live; `key` stands for the filters. */
export function useCommandLog(key: string, filters: Filters, page: number): CommandLog {
  const [state, setState] = useState<State | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const abort = useRef(new AbortController());
  /** What was told while a page was read, which may be newer than it. */
  const during = useRef<LoggedCommand[]>([]);
  const reload = () => setCount((before) => before + 1);

  async function ask(known: readonly LoggedCommand[]) {
    const { signal } = abort.current;
    during.current = [];
    setBusy(true);
    try {
      const query = { ...requestOf(filters, Date.now()), limit: page, beforeId: known.at(-1)?.id };
      const found = await get<LoggedCommand[]>("/commands/log", query, signal);
      if (signal.aborted) return;
      setProblem(null);
      setState((before) => ({
        items: merged(
          [...(known.length > 0 ? (before?.items ?? []) : []), ...found],
          during.current,
          filters,
        ),
        more: found.length === page,
      }));
    } catch (failure) {
      if (!signal.aborted) setProblem(failure);
    }
    if (!signal.aborted) setBusy(false);
  }

  useEffect(() => {
    setState(null);
  }, [key]);
  useEffect(() => {
    abort.current = new AbortController();
    setProblem(null);
    void ask([]);
    return () => abort.current.abort();
  }, [key, count]);
  useEffect(
    () =>
      listen(({ commands }) => {
        if (commands?.length === 0) return reload();
        if (!commands) return;
        during.current.push(...commands);
        setState((before) => before && { ...before, items: merged(before.items, commands, filters) });
      }),
    [key],
  );
  useEffect(() => {
    let first = true;
    return onOpen(() => {
      if (!first) reload();
      first = false;
    });
  }, []);

  return {
    items: state?.items,
    more: state?.more ?? false,
    busy,
    problem,
    readMore: () => state?.more && !busy && void ask(state.items),
    reload,
  };
}

/** Answers that are not live (groups, zones, calendars, …): kept for a minute, dropped after one's own changes. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { get, type Query } from "../api/call";

const KEPT_MS = 60_000;
const MOST = 200;
const kept = new Map<string, { at: number; answer: Promise<unknown> }>();

/** As `get`, but not older than a minute. */
export function read<T>(path: string, query?: Query): Promise<T> {
  const key = path + JSON.stringify(query ?? {});
  const known = kept.get(key);
  if (known && Date.now() - known.at < KEPT_MS) return known.answer as Promise<T>;
  const answer = get<T>(path, query);
  kept.delete(key);
  kept.set(key, { at: Date.now(), answer });
  if (kept.size > MOST) kept.delete(kept.keys().next().value ?? "");
  answer.catch(() => kept.delete(key));
  return answer;
}

/** Forget the answers of all paths that begin so. */
export function drop(prefix: string): void {
  for (const key of [...kept.keys()]) if (key.startsWith(prefix)) kept.delete(key);
}

export interface Loaded<T> {
  value: T | undefined;
  problem: unknown;
  /** Ask again. */
  reload: () => void;
}

/** What `load` gives, anew whenever `key` changes. Until it has loaded the previous value stays. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | undefined; problem: unknown }>({
    key,
    value: undefined,
    problem: null,
  });
  const [count, setCount] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ key, value, problem: null });
      },
      (problem: unknown) => {
        if (!abort.signal.aborted)
          setState((before) => ({ key, value: before.key === key ? before.value : undefined, problem }));
      },
    );
    return () => abort.abort();
    // `load` closes over what `key` says.
  }, [key, count]);
  const reload = useCallback(() => setCount((before) => before + 1), []);
  return {
    value: state.key === key ? state.value : undefined,
    problem: state.key === key ? state.problem : null,
    reload,
  };
}

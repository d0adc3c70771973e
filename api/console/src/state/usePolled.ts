import { useEffect, useState } from "preact/hooks";
import type { Loaded } from "./responseCache";

/**
 * What `load` gives, and again `pauseMs` after each answer while the page is looked at. A problem is told, and the
 * previous value stays. Only the `load` of the first render is called.
 */
export function usePolled<T>(load: (signal: AbortSignal) => Promise<T>, pauseMs: number): Loaded<T> {
  const [state, setState] = useState<{ value: T | undefined; problem: unknown }>({
    value: undefined,
    problem: null,
  });
  const [count, setCount] = useState(0);
  useEffect(() => {
    let abort = new AbortController();
    let timer = 0;
    let busy = false;
    async function ask() {
      const { signal } = abort;
      busy = true;
      try {
        const value = await load(signal);
        if (!signal.aborted) setState({ value, problem: null });
      } catch (problem) {
        if (!signal.aborted) setState((before) => ({ ...before, problem }));
      }
      if (signal.aborted) return;
      busy = false;
      if (!document.hidden) timer = window.setTimeout(ask, pauseMs);
    }
    function follow() {
      clearTimeout(timer);
      if (document.hidden) {
        abort.abort();
        abort = new AbortController();
        busy = false;
      } else if (!busy) void ask();
    }
    document.addEventListener("visibilitychange", follow);
    follow();
    return () => {
      document.removeEventListener("visibilitychange", follow);
      clearTimeout(timer);
      abort.abort();
    };
  }, [count, pauseMs]);
  return { ...state, reload: () => setCount((before) => before + 1) };
}

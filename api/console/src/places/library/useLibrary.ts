import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../../api/call";
import type { Media, MediaPage } from "../../api/types";
import { deviceIds, deviceNow } from "../../state/fleet";
import { type Filters, requestOf } from "./library";
import { vehicleOf, whatOf } from "./words";

/** Entries of a page. */
export const PAGE = 60;
/** Vehicles that are asked for by their name. */
const NAMED = 50;

export interface LibraryList {
  /** Undefined until the first are known. */
  items: readonly Media[] | undefined;
  more: boolean;
  busy: boolean;
  problem: unknown;
  readMore: () => void;
  reload: () => void;
  replace: (item: Media) => void;
  remove: (item: Media) => void;
}

interface State {
  items: readonly Media[];
  next: string | null;
}

/** The library page by page; `key` stands for the filters. */
export function useLibrary(key: string, filters: Filters): LibraryList {
  const [state, setState] = useState<State | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const abort = useRef(new AbortController());

  async function ask(after: string | null, known: readonly Media[]) {
    const { signal } = abort.current;
    setBusy(true);
    try {
      const query = requestOf(filters, named(filters.text), Date.now());
      const page = await get<MediaPage>("/media", { ...query, limit: PAGE, after }, signal);
      if (signal.aborted) return;
      setProblem(null);
      setState({ items: [...known, ...page.items], next: page.next });
    } catch (failure) {
      if (!signal.aborted) setProblem(failure);
    }
    if (!signal.aborted) setBusy(false);
  }

  useEffect(() => {
    abort.current = new AbortController();
    setState(null);
    setProblem(null);
    void ask(null, []);
    return () => abort.current.abort();
  }, [key, count]);

  const text = filters.text.trim().toLowerCase();
  return {
    items: state?.items.filter((item) => holds(item, text)),
    more: state?.next != null,
    busy,
    problem,
    readMore: () => state?.next && !busy && void ask(state.next, state.items),
    reload: () => setCount((before) => before + 1),
    replace: (item) =>
      setState(
        (before) =>
          before && {
            ...before,
            items: before.items.map((each) => (each.fileName === item.fileName ? item : each)),
          },
      ),
    remove: (item) =>
      setState(
        (before) =>
          before && { ...before, items: before.items.filter(({ fileName }) => fileName !== item.fileName) },
      ),
  };
}

function named(text: string): readonly number[] {
  const words = text.trim().toLowerCase();
  if (!words) return [];
  return deviceIds
    .peek()
    .filter((id) => deviceNow(id)?.name.toLowerCase().includes(words))
    .slice(0, NAMED);
}

function holds(item: Media, text: string): boolean {
  return !text || `${vehicleOf(item)} ${whatOf(item)}`.toLowerCase().includes(text);
}

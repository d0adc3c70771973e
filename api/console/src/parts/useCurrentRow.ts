import { useReducer, useRef } from "preact/hooks";

/**
 * The row of a list where the arrows are; -1 before they were used. It stays with its record while others come and go
 * around it; when that is gone the arrows are at the one that took its place.
 */
export function useCurrentRow(ids: readonly number[]): [index: number, set: (index: number) => void] {
  const at = useRef<{ id: number | null; index: number }>({ id: null, index: -1 });
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const found = at.current.id === null ? -1 : ids.indexOf(at.current.id);
  const current = found >= 0 ? found : Math.min(at.current.index, ids.length - 1);
  at.current = { id: ids[current] ?? null, index: current };
  const set = (index: number) => {
    at.current = { id: ids[index] ?? null, index };
    redraw(undefined);
  };
  return [current, set];
}

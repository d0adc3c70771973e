/**
 * What was typed and not saved: it stays while the page is open and the user logged in, also when its form is left and
 * opened again.
 */

import { useState } from "preact/hooks";
import { keptForPage } from "../state/userStorage";

export interface Draft<T> {
  value: T;
  /** Whether it differs from what is stored. */
  isChanged: boolean;
  /** Whether it was begun before this form was opened. */
  wasKept: boolean;
  set: (change: Partial<T>) => void;
  /** Forget it: what is stored counts again. */
  clear: () => void;
}

/** The draft of a form; `form` tells it from others, `stored` is what it begins with. */
export function useDraft<T extends object>(form: string, stored: T): Draft<T> {
  const key = `draft ${form}`;
  const [, redraw] = useState(0);
  const [wasKept, setKept] = useState(() => keptForPage.has(key));
  const value = { ...stored, ...(keptForPage.get(key) as Partial<T> | undefined) };
  const isChanged = JSON.stringify(value) !== JSON.stringify(stored);
  return {
    value,
    isChanged,
    wasKept: wasKept && isChanged,
    set: (change) => {
      keptForPage.set(key, { ...(keptForPage.get(key) as Partial<T> | undefined), ...change });
      redraw((count) => count + 1);
    },
    clear: () => {
      keptForPage.delete(key);
      setKept(false);
      redraw((count) => count + 1);
    },
  };
}

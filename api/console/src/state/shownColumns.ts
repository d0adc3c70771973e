/** Which columns of a table are shown: a preference of the user, the attribute `console.columns.` and its name. */

import { useState } from "preact/hooks";
import { saveAttributes, session } from "./session";

/**
 * The columns that are shown, those of `standard` until others are chosen, and what shows others from now on. A choice
 * that cannot be saved counts until the page is left; `onProblem` is told.
 */
export function useShownColumns<T extends { key: string }>(
  table: string,
  columns: readonly T[],
  standard: readonly string[],
  onProblem: (problem: unknown) => void,
): { shown: readonly T[]; keys: readonly string[]; show: (keys: readonly string[]) => void } {
  const attribute = `console.columns.${table}`;
  const [unsaved, setUnsaved] = useState<readonly string[] | null>(null);
  const saved = session.value?.attributes[attribute];
  const wished = unsaved ?? (Array.isArray(saved) ? saved.map(String) : standard);
  const shown = columns.filter(({ key }, index) => index === 0 || wished.includes(key));
  return {
    shown,
    keys: shown.map(({ key }) => key),
    show: (keys) => {
      setUnsaved(keys);
      saveAttributes({ [attribute]: keys.join() === standard.join() ? null : keys }).catch(onProblem);
    },
  };
}

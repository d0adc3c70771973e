/** What can be done with which vehicle, by words such as `van 7 history`. Pure. */

import { plain } from "../../parts/plain";

export interface Named {
  id: number;
  name: string;
  uniqueId: string;
}

export interface NamedAct<A, V> {
  act: A;
  vehicle: V;
}

/** Pairs that are listed at most: of a fleet of thousands, one word fits many. */
const MOST = 50;

/**
 * Acts and vehicles that a text names: words that begin a word of the act or another word for it, the rest being in
 * name or number of the vehicle. Without a rest, and without a text, the vehicle is the one that is open; where none
 * is open an act alone is offered for all. A text that fits one vehicle only names all acts of it.
 */
export function actsIn<A extends { label: string; words?: string }, V extends Named>(
  text: string,
  acts: readonly A[],
  vehicles: readonly V[],
  open: V | undefined,
): readonly NamedAct<A, V>[] {
  const words = plain(text).split(/\s+/).filter(Boolean);
  const found = new Map<string, readonly V[]>();
  const vehiclesOf = (rest: readonly string[]) => {
    if (rest.length === 0) return open ? [open] : words.length > 0 ? vehicles : [];
    const key = rest.join(" ");
    const known = found.get(key) ?? vehicles.filter((each) => holds(each, rest));
    found.set(key, known);
    return known;
  };
  const all = vehiclesOf(words);
  const pairs: NamedAct<A, V>[] = [];
  for (const act of acts) {
    const label = plain(`${act.label} ${act.words ?? ""}`).split(/\s+/);
    const rest = words.filter((word) => !label.some((each) => each.startsWith(word)));
    const wanted = all.length === 1 ? all : rest.length < words.length ? vehiclesOf(rest) : [];
    for (const vehicle of wanted) {
      if (pairs.length === MOST) return pairs;
      pairs.push({ act, vehicle });
    }
  }
  return pairs;
}

function holds({ name, uniqueId }: Named, words: readonly string[]): boolean {
  const known = plain(`${name} ${uniqueId}`);
  return words.every((word) => known.includes(word));
}

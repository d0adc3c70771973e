/** What the reader wants to see on maps over the outlines, kept in this browser. */

import { signal } from "@preact/signals";
import type { Layer } from "../../map/base";

const KEY = "motorpool.mapLayer";
/** Before the name of a layer that is not the first. */
const NAMED = "layer:";
const PLAIN = "plain";

const choice = signal(localStorage.getItem(KEY) ?? "");

/** The chosen one of these layers, the first where none was chosen or it is there no more; null for the outlines alone. */
export function chosenLayer(layers: readonly Layer[]): Layer | null {
  if (choice.value === PLAIN) return null;
  return layers.find((layer) => keyOf(layer) === choice.value) ?? layers[0] ?? null;
}

/** Choose a layer for all maps; null for the outlines alone. */
export function chooseLayer(layer: Layer | null): void {
  choice.value = layer ? keyOf(layer) : PLAIN;
  localStorage.setItem(KEY, choice.peek());
}

function keyOf({ name }: Layer): string {
  return name === null ? "" : NAMED + name;
}

/** Attributes in words, loaded when the first of them is shown: most of the page shows none. */

import { signal } from "@preact/signals";
import { loadTexts } from "../i18n/translate";

type AttributeWords = typeof import("./attributes");

const loaded = signal<AttributeWords | null>(null);
let loading: Promise<void> | null = null;

/** What writes attributes; null while it is on its way, and who reads it is told when it is there. */
export function attributeWords(): AttributeWords | null {
  // Without them the rest remains; who shows them next asks again.
  if (loaded.value === null) void loadAttributeWords().catch(() => {});
  return loaded.value;
}

export function loadAttributeWords(): Promise<void> {
  loading ??= load().catch((problem: unknown) => {
    loading = null;
    throw problem;
  });
  return loading;
}

async function load(): Promise<void> {
  const [words] = await Promise.all([import("./attributes"), loadTexts("values")]);
  loaded.value = words;
}

/** Texts of the chosen language. `en` is the type: a language that lacks a key does not compile. */

import { signal } from "@preact/signals";
import type { en } from "./en";

/** A text, or one for each plural category of `count` (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type Key = keyof typeof en;
export type Texts = Record<Key, Message>;
export type Values = Record<string, string | number>;

/** Languages by their code; `qps` is made up, for tests. */
export const LANGUAGES = { en: "English", pt: "Português" } as const;
const loaders: Record<string, () => Promise<Texts>> = {
  en: async () => (await import("./en")).en,
  pt: async () => (await import("./pt")).pt,
  qps: async () => (await import("./pseudo")).madeUp((await import("./en")).en),
};

/** The code of the language that is loaded, for `Intl` and `lang`. */
export const language = signal("en");
const texts = signal<Texts | null>(null);
let plurals = new Intl.PluralRules("en");

/** The first of the wished languages that exists: `pt-BR` finds `pt`; else English. */
export function chooseLanguage(...wished: unknown[]): string {
  for (const each of wished) {
    const code = typeof each === "string" ? (each.toLowerCase().split(/[-_]/)[0] ?? "") : "";
    if (code in loaders) return code;
  }
  return "en";
}

/** Load a language and show it. */
export async function setLanguage(code: string): Promise<void> {
  const load = loaders[code];
  if (!load || (texts.value && language.value === code)) return;
  const loaded = await load();
  plurals = new Intl.PluralRules(code === "qps" ? "en" : code);
  texts.value = loaded;
  language.value = code;
  if (typeof document !== "undefined") document.documentElement.lang = code === "qps" ? "en" : code;
}

/** The text of a key; `{name}` is replaced by a value, and `count` chooses among plural forms. */
export function t(key: Key, values: Values = {}): string {
  const message = texts.value?.[key];
  return message === undefined ? key : fill(message, values, plurals);
}

/** Choose the plural form and put the values in. */
export function fill(message: Message, values: Values, rules: Intl.PluralRules): string {
  const text =
    typeof message === "string" ? message : (message[rules.select(Number(values.count))] ?? message.other);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Whether there is a text of this key; for keys that are made of what the server says. */
export function hasText(key: string): key is Key {
  return texts.value !== null && key in texts.value;
}

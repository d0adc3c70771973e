/** Texts of the chosen language. `en` is the type: a language that lacks a key does not compile. */

import { signal } from "@preact/signals";
import type { en } from "./en";
import type { connect } from "./en/connect";
import type { server } from "./en/server";
import type { values } from "./en/values";
import type { words } from "./en/words";

/** A text, or one for each plural category of `count` (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
/** The texts that are loaded at the start. */
export type Texts = Record<keyof typeof en, Message>;
export type Key =
  | keyof typeof en
  | keyof typeof connect
  | keyof typeof server
  | keyof typeof values
  | keyof typeof words;
export type Values = Record<string, string | number>;

/** Languages by their code; `qps` is made up, for tests. */
export const LANGUAGES = { en: "English", pt: "Português" } as const;
const loaders: Record<string, () => Promise<Texts>> = {
  en: async () => (await import("./en")).en,
  pt: async () => (await import("./pt")).pt,
  qps: async () => (await import("./pseudo")).madeUp((await import("./en")).en),
};

/** Texts that are loaded with what shows them, since few open it. */
const parts = {
  connect: {
    en: async () => (await import("./en/connect")).connect,
    pt: async () => (await import("./pt/connect")).connect,
  },
  server: {
    en: async () => (await import("./en/server")).server,
    pt: async () => (await import("./pt/server")).server,
  },
  values: {
    en: async () => (await import("./en/values")).values,
    pt: async () => (await import("./pt/values")).values,
  },
  words: {
    en: async () => (await import("./en/words")).words,
    pt: async () => (await import("./pt/words")).words,
  },
} as const;
export type Part = keyof typeof parts;
/** Those that were loaded, or are being loaded; they are loaded again in another language. */
const loadedParts = new Map<Part, Promise<void>>();

/** The code of the language that is loaded, for `Intl` and `lang`. */
export const language = signal("en");
const texts = signal<Partial<Record<Key, Message>> | null>(null);
let plurals = new Intl.PluralRules("en");
let numbers = new Intl.NumberFormat("en");

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
  const known = [...loadedParts.keys()];
  const [loaded, ...more] = await Promise.all([load(), ...known.map((part) => readPart(part, code))]);
  plurals = new Intl.PluralRules(code === "qps" ? "en" : code);
  numbers = new Intl.NumberFormat(code === "qps" ? "en" : code);
  texts.value = Object.assign({}, loaded, ...more);
  language.value = code;
  if (typeof document !== "undefined") document.documentElement.lang = code === "qps" ? "en" : code;
  await Promise.all([...loadedParts.keys()].filter((part) => !known.includes(part)).map(loadPart));
}

/** Load texts that are not loaded at the start, in the language that is loaded now and in those that follow. */
export function loadTexts(part: Part): Promise<void> {
  const known = loadedParts.get(part);
  if (known) return known;
  const loading = loadPart(part);
  loadedParts.set(part, loading);
  loading.catch(() => loadedParts.delete(part));
  return loading;
}

async function loadPart(part: Part): Promise<void> {
  const code = language.value;
  const loaded = await readPart(part, code);
  if (language.value === code) texts.value = { ...texts.value, ...loaded };
  else await loadPart(part);
}

async function readPart(part: Part, code: string): Promise<Partial<Record<Key, Message>>> {
  if (code === "qps") {
    const english: Record<string, Message> = await parts[part].en();
    return (await import("./pseudo")).madeUp(english);
  }
  return parts[part][code === "pt" ? "pt" : "en"]();
}

/** The text of a key; `{name}` is replaced by a value, and `count` chooses among plural forms. */
export function t(key: Key, values: Values = {}): string {
  const message = texts.value?.[key];
  return message === undefined ? key : fill(message, values, plurals, numbers);
}

/** Values that are amounts; other numbers, such as those of ports and cameras, are names of something. */
const AMOUNTS = new Set(["count", "shown", "listed", "total"]);

/** Choose the plural form and put the values in. */
export function fill(
  message: Message,
  values: Values,
  rules: Intl.PluralRules,
  numbers: Intl.NumberFormat,
): string {
  const text =
    typeof message === "string" ? message : (message[rules.select(Number(values.count))] ?? message.other);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return AMOUNTS.has(name) && typeof value === "number" ? numbers.format(value) : String(value ?? whole);
  });
}

/** Whether there is a text of this key; for keys that are made of what the server says. */
export function hasText(key: string): key is Key {
  return texts.value !== null && key in texts.value;
}

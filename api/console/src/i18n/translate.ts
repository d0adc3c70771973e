/** Texts of the chosen language. `en` is the type: a language that lacks a key does not compile. */

import { computed, signal } from "@preact/signals";
import type { start } from "./en";
import type { admin } from "./en/admin";
import type { calendars } from "./en/calendars";
import type { connect } from "./en/connect";
import type { helpdesk } from "./en/helpdesk";
import type { meanings } from "./en/meanings";
import type { messages } from "./en/messages";
import type { notifications } from "./en/notifications";
import type { overview } from "./en/overview";
import type { people } from "./en/people";
import type { records } from "./en/records";
import type { reports } from "./en/reports";
import type { schedules } from "./en/schedules";
import type { server } from "./en/server";
import type { tickets } from "./en/tickets";
import type { upkeep } from "./en/upkeep";
import type { values } from "./en/values";
import type { vehicles } from "./en/vehicles";
import type { words } from "./en/words";

/** A text, or one for each plural category of `count` (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
/** Texts with the keys of English. */
export type TextsLike<English> = Record<keyof English, Message>;
/** The texts that are loaded at the start. */
export type Texts = TextsLike<typeof start>;
export type Key =
  | keyof typeof start
  | keyof typeof admin
  | keyof typeof calendars
  | keyof typeof connect
  | keyof typeof helpdesk
  | keyof typeof meanings
  | keyof typeof messages
  | keyof typeof notifications
  | keyof typeof overview
  | keyof typeof records
  | keyof typeof reports
  | keyof typeof people
  | keyof typeof schedules
  | keyof typeof server
  | keyof typeof tickets
  | keyof typeof upkeep
  | keyof typeof values
  | keyof typeof vehicles
  | keyof typeof words;
export type Values = Record<string, string | number>;

/** The languages by their code, in their own words; each is a folder. `pt` is of Portugal. */
export const LANGUAGES = {
  de: "Deutsch",
  en: "English",
  es: "Español",
  pt: "Português (Portugal)",
  "pt-BR": "Português (Brasil)",
} as const;
/** The codes, and `qps`, which is made of English for tests. */
const CODES = [...Object.keys(LANGUAGES), "qps"];

type Load<T> = () => Promise<T>;
const starts = import.meta.glob<Texts>("./*/index.ts", { import: "start" });
/** Texts that are loaded with what shows them, since few open it. */
const parts = {
  admin: import.meta.glob<TextsLike<typeof admin>>("./*/admin.ts", { import: "admin" }),
  calendars: import.meta.glob<TextsLike<typeof calendars>>("./*/calendars.ts", { import: "calendars" }),
  connect: import.meta.glob<TextsLike<typeof connect>>("./*/connect.ts", { import: "connect" }),
  helpdesk: import.meta.glob<TextsLike<typeof helpdesk>>("./*/helpdesk.ts", { import: "helpdesk" }),
  meanings: import.meta.glob<TextsLike<typeof meanings>>("./*/meanings.ts", { import: "meanings" }),
  messages: import.meta.glob<TextsLike<typeof messages>>("./*/messages.ts", { import: "messages" }),
  notifications: import.meta.glob<TextsLike<typeof notifications>>("./*/notifications.ts", {
    import: "notifications",
  }),
  overview: import.meta.glob<TextsLike<typeof overview>>("./*/overview.ts", { import: "overview" }),
  reports: import.meta.glob<TextsLike<typeof reports>>("./*/reports.ts", { import: "reports" }),
  records: import.meta.glob<TextsLike<typeof records>>("./*/records.ts", { import: "records" }),
  people: import.meta.glob<TextsLike<typeof people>>("./*/people.ts", { import: "people" }),
  schedules: import.meta.glob<TextsLike<typeof schedules>>("./*/schedules.ts", { import: "schedules" }),
  server: import.meta.glob<TextsLike<typeof server>>("./*/server.ts", { import: "server" }),
  tickets: import.meta.glob<TextsLike<typeof tickets>>("./*/tickets.ts", { import: "tickets" }),
  upkeep: import.meta.glob<TextsLike<typeof upkeep>>("./*/upkeep.ts", { import: "upkeep" }),
  values: import.meta.glob<TextsLike<typeof values>>("./*/values.ts", { import: "values" }),
  vehicles: import.meta.glob<TextsLike<typeof vehicles>>("./*/vehicles.ts", { import: "vehicles" }),
  words: import.meta.glob<TextsLike<typeof words>>("./*/words.ts", { import: "words" }),
};
export type Part = keyof typeof parts;
/** Those that were loaded, or are being loaded; they are loaded again in another language. */
const loadedParts = new Map<Part, Promise<void>>();

/** The code of the language that is loaded. */
export const language = signal("en");
/** How the reader writes numbers and dates, and sorts: the language with a region, such as `de-AT`. */
export const locale = signal("en");
const texts = signal<Partial<Record<Key, Message>> | null>(null);
let plurals = new Intl.PluralRules("en");
let numbers = new Intl.NumberFormat("en");
const collator = computed(() => new Intl.Collator(locale.value, { numeric: true, sensitivity: "base" }));

/** The order of names for the reader: `Van 2` before `Van 10`. */
export function compareNames(one: string, other: string): number {
  return collator.value.compare(one, other);
}

/** The language of a tag: `de-AT` finds `de`, `pt-BR` itself; null if there is none. */
function languageOf(tag: unknown): string | null {
  if (typeof tag !== "string") return null;
  const wished = tag.toLowerCase().replaceAll("_", "-");
  const [base = ""] = wished.split("-");
  return CODES.find((code) => code.toLowerCase() === wished) ?? CODES.find((code) => code === base) ?? null;
}

/** The first of the wished languages that exists; else English. */
export function chooseLanguage(...wished: unknown[]): string {
  return wished.map(languageOf).find((code) => code !== null) ?? "en";
}

/** The first of the wished tags that has a region and is of this language; else the language's own. */
export function localeOf(code: string, wished: readonly unknown[]): string {
  if (code === "qps") return "en";
  for (const each of wished) {
    if (typeof each !== "string" || languageOf(each) !== code) continue;
    const tag = each.replaceAll("_", "-");
    if (/^[a-z]{2}-(?:[a-z]{4}-)?(?:[a-z]{2}|\d{3})$/i.test(tag))
      return Intl.getCanonicalLocales(tag)[0] ?? code;
  }
  // Without a region `Intl` takes it for Brazil's.
  return code === "pt" ? "pt-PT" : code;
}

/** Load a language and show it; `wished` are the tags that it was chosen by. */
export async function setLanguage(code: string, wished: readonly unknown[] = []): Promise<void> {
  if (!CODES.includes(code)) return;
  const region = localeOf(code, wished);
  if (texts.value && language.value === code && locale.value === region) return;
  const known = [...loadedParts.keys()];
  const [loaded, ...more] = await Promise.all([
    read(starts, code),
    ...known.map((part) => read(parts[part], code)),
  ]);
  plurals = new Intl.PluralRules(region);
  numbers = new Intl.NumberFormat(region);
  texts.value = Object.assign({}, loaded, ...more);
  language.value = code;
  locale.value = region;
  if (typeof document !== "undefined") document.documentElement.lang = region;
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
  const loaded = await read(parts[part], code);
  if (language.value === code) texts.value = { ...texts.value, ...loaded };
  else await loadPart(part);
}

/** Read a file of a language; the made-up one is made of that of English. */
async function read(files: Record<string, Load<Record<string, Message>>>, code: string) {
  const folder = code === "qps" ? "en" : code;
  const load = Object.entries(files).find(([path]) => path.startsWith(`./${folder}/`))?.[1];
  const found = (await load?.()) ?? {};
  return code === "qps" ? (await import("./pseudo")).madeUp(found) : found;
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

/**
 * What people type into a time field: `14:32`, `yesterday 8`, `mon 8-12`, `-2h`, `24.12. 7:30`, ISO 8601. Words of
 * all languages of the console are understood, whichever is chosen.
 */

import { instantText, parseInstant, resolveEnd, type SpanText } from "./spans";
import { instantOf, startOfDay, wallOf } from "./zones";

/** A moment, or a span; spans of relative words stay relative. */
export type Typed = { kind: "moment"; at: number } | ({ kind: "span" } & SpanText);

const DAYS_AGO: Record<string, number> = Object.fromEntries(
  ["today hoje hoy heute", "yesterday ontem ayer gestern", "anteontem anteayer vorgestern"].flatMap(
    (names, ago) => names.split(" ").map((name) => [name, ago]),
  ),
);
/** From Monday on, in English, Portuguese, Spanish and German. */
const WEEKDAYS = [
  "mon monday seg segunda lun lunes mo montag",
  "tue tuesday ter terça terca mar martes di dienstag",
  "wed wednesday qua quarta mié mie miércoles miercoles mi mittwoch",
  "thu thursday qui quinta jue jueves do donnerstag",
  "fri friday sex sexta vie viernes fr freitag",
  "sat saturday sáb sab sábado sabado sa samstag sonnabend",
  "sun sunday dom domingo so sonntag",
].map((names) => names.split(" "));
const THIS_WEEK: SpanText = { from: "now/w", to: "now" };
const LAST_WEEK: SpanText = { from: "now-1w/w", to: "now-1w/w" };
const WEEKS: Record<string, SpanText> = {
  "this week": THIS_WEEK,
  "last week": LAST_WEEK,
  "esta semana": THIS_WEEK,
  "semana passada": LAST_WEEK,
  "semana pasada": LAST_WEEK,
  "diese woche": THIS_WEEK,
  "letzte woche": LAST_WEEK,
};
const CLOCK = /^(\d{1,2})(?:[:.h](\d{2}))?(?::(\d{2}))?$/;

/** Read what was typed, or null. A time without a day is the latest one that is not in the future. */
export function parseTime(text: string, now: number, zone: string): Typed | null {
  const words = text.trim().toLowerCase().replace(/\s+/g, " ").replace(/–/g, "-");
  if (words === "") return null;
  const week = WEEKS[words];
  if (week) return { kind: "span", ...week };
  const ago = /^-(\d{1,5})([smhdw])$/.exec(words);
  if (ago) return { kind: "span", from: `now-${ago[1]}${ago[2]}`, to: "now" };
  if (words.startsWith("now")) return ofNow(text.trim(), now, zone);
  const instant = parseInstant(text.trim().toUpperCase());
  if (instant !== null) return { kind: "moment", at: instant };
  return ofDay(words, now, zone);
}

function ofNow(text: string, now: number, zone: string): Typed | null {
  const at = resolveEnd(text, now, zone, "from");
  if (at === null) return null;
  return text.includes("/") ? { kind: "span", from: text, to: text } : { kind: "moment", at };
}

function ofDay(words: string, now: number, zone: string): Typed | null {
  const [first = "", ...rest] = words.split(" ");
  const day = readDay(first, now, zone);
  const times = day === null ? words : rest.join(" ");
  if (day !== null && times === "") return wholeDay(first, day, zone);
  const ends = times.split(/ ?- ?/);
  const clocks = ends.map(readClock);
  if (ends.length > 2 || clocks.includes(null)) return null;
  const [begin, end] = clocks as number[];
  if (begin === undefined) return null;
  let start = day ?? startOfDay(now, zone);
  let at = onDay(start, begin, zone);
  if (day === null && at > now) {
    start = startOfDay(now, zone, -1);
    at = onDay(start, begin, zone);
  }
  if (end === undefined) return { kind: "moment", at };
  const to = onDay(end > begin ? start : startOfDay(start, zone, 1), end, zone);
  return { kind: "span", from: instantText(at), to: instantText(to) };
}

function wholeDay(word: string, day: number, zone: string): Typed {
  const ago = DAYS_AGO[word];
  if (ago === 0) return { kind: "span", from: "now/d", to: "now" };
  if (ago !== undefined) return { kind: "span", from: `now-${ago}d/d`, to: `now-${ago}d/d` };
  return { kind: "span", from: instantText(day), to: instantText(startOfDay(day, zone, 1)) };
}

/** The start of a named or dated day, or null; a weekday is the latest one, today included. */
function readDay(word: string, now: number, zone: string): number | null {
  const ago = DAYS_AGO[word];
  if (ago !== undefined) return startOfDay(now, zone, -ago);
  const weekday = WEEKDAYS.findIndex((names) => names.includes(word));
  const { year, month, day } = wallOf(now, zone);
  if (weekday >= 0) {
    const today = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
    return startOfDay(now, zone, -((today - weekday + 7) % 7));
  }
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(word);
  if (iso) return dated(Number(iso[1]), Number(iso[2]), Number(iso[3]), zone);
  const short = /^(\d{1,2})[./](\d{1,2})(?:[./](\d{4})?)?$/.exec(word);
  if (!short) return null;
  const [, dayText, monthText, yearText] = short;
  // Without the slash or the closing point it may be a time: `7.30`.
  if (!yearText && !word.includes("/") && !word.endsWith(".")) return null;
  const found = dated(yearText ? Number(yearText) : year, Number(monthText), Number(dayText), zone);
  if (found === null || yearText || found <= now) return found;
  return dated(year - 1, Number(monthText), Number(dayText), zone);
}

function dated(year: number, month: number, day: number, zone: string): number | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return instantOf({ year, month, day, hour: 0, minute: 0, second: 0 }, zone);
}

/** Seconds since midnight, or null. */
function readClock(text: string): number | null {
  const found = CLOCK.exec(text);
  if (!found) return null;
  const [hour, minute, second] = [Number(found[1]), Number(found[2] ?? 0), Number(found[3] ?? 0)];
  if (hour > 24 || minute > 59 || second > 59 || (hour === 24 && minute + second > 0)) return null;
  return hour * 3600 + minute * 60 + second;
}

function onDay(start: number, seconds: number, zone: string): number {
  const { year, month, day } = wallOf(start, zone);
  const hour = Math.floor(seconds / 3600);
  return instantOf(
    { year, month, day, hour, minute: Math.floor((seconds % 3600) / 60), second: seconds % 60 },
    zone,
  );
}

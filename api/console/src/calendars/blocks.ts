/** Calendars as blocks of weekdays and times with exceptions, and as the iCalendar text that says exactly this. Pure. */

/** Days of the week from Monday, 0 to 6, on which it is open from a time to another, `HH:MM`. */
export interface Block {
  days: readonly number[];
  from: string;
  /** Not later than `from`: it lasts until then on the next day. */
  to: string;
}

/** A day on which no block begins. */
export interface Exception {
  /** `YYYY-MM-DD`. */
  date: string;
  /** It is open then from a time to another instead, as in a block; null: not at all. */
  open: { from: string; to: string } | null;
}

export interface Blocks {
  blocks: readonly Block[];
  exceptions: readonly Exception[];
  /** The zone of the times; empty: the calendar's attribute `timezone`, else that of the server. */
  zone: string;
}

export const WORKDAYS: readonly number[] = [0, 1, 2, 3, 4];
export const FIRST_BLOCK: Block = { days: WORKDAYS, from: "09:00", to: "17:00" };

const NAMES = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const PRODUCT = "-//Motorpool//Console//EN";
/** A Monday, before anything that is asked of a calendar. */
const FIRST_MONDAY = Date.UTC(2024, 0, 1);
const DAY = 86_400_000;

/** Whether a block can be stored: it has days and two times. */
export function isWhole({ days, from, to }: Block): boolean {
  return days.length > 0 && TIME.test(from) && TIME.test(to);
}

/** Whether all of it can be stored: at least a block or a day of its own, and each date once. */
export function areWhole({ blocks, exceptions }: Blocks): boolean {
  const dates = exceptions.map(({ date }) => date);
  return (
    blocks.every(isWhole) &&
    (blocks.length > 0 || exceptions.some(({ open }) => open !== null)) &&
    new Set(dates).size === dates.length &&
    exceptions.every(
      ({ date, open }) =>
        DATE.test(date) &&
        !Number.isNaN(Date.parse(date)) &&
        (open === null || (TIME.test(open.from) && TIME.test(open.to))),
    )
  );
}

/** iCalendar text (RFC 5545) of blocks and exceptions that are whole. */
export function calendarText({ blocks, exceptions, zone }: Blocks): string {
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", `PRODID:${PRODUCT}`];
  if (zone) lines.push(`X-WR-TIMEZONE:${zone}`);
  const sortedDates = [...exceptions].sort((one, other) => one.date.localeCompare(other.date));
  blocks.forEach(({ days, from, to }, index) => {
    const sorted = [...days].sort((one, other) => one - other);
    const first = new Date(FIRST_MONDAY + (sorted[0] ?? 0) * DAY).toISOString();
    lines.push(
      "BEGIN:VEVENT",
      `UID:block-${index + 1}@motorpool`,
      ...span(first, from, to),
      `RRULE:FREQ=WEEKLY;BYDAY=${sorted.map((day) => NAMES[day]).join(",")}`,
      // Also where the block has no such weekday, so that the exception is read again from any of them.
      ...sortedDates.map(({ date }) => `EXDATE:${local(date, from)}`),
      "END:VEVENT",
    );
  });
  for (const { date, open } of sortedDates) {
    if (!open) continue;
    lines.push("BEGIN:VEVENT", `UID:day-${date}@motorpool`, ...span(date, open.from, open.to), "END:VEVENT");
  }
  return `${[...lines, "END:VCALENDAR"].join("\r\n")}\r\n`;
}

function span(date: string, from: string, to: string): readonly string[] {
  const next = new Date(Date.parse(date.slice(0, 10)) + (to <= from ? DAY : 0)).toISOString();
  return [`DTSTART:${local(date, from)}`, `DTEND:${local(next, to)}`];
}

function local(date: string, time: string): string {
  return `${date.slice(0, 10).replace(/-/g, "")}T${time.replace(":", "")}00`;
}

/** The blocks of a text that `calendarText` has written; null for any other, which says more than blocks can. */
export function blocksOf(text: string): Blocks | null {
  if (!text.includes(`PRODID:${PRODUCT}`)) return null;
  const zone = /^X-WR-TIMEZONE:(.+?)\r?$/m.exec(text)?.[1] ?? "";
  const events = text.split("BEGIN:VEVENT").slice(1);
  const blocks: Block[] = [];
  const exceptions = new Map<string, Exception>();
  for (const event of events) {
    const found = /DTSTART:(\d{8})T(\d\d)(\d\d)00\r?\nDTEND:\d{8}T(\d\d)(\d\d)00\r?$/m.exec(event);
    if (!found) return null;
    const [, day = "", fromHour, fromMinute, toHour, toMinute] = found;
    const times = { from: `${fromHour}:${fromMinute}`, to: `${toHour}:${toMinute}` };
    const names = /^RRULE:FREQ=WEEKLY;BYDAY=([A-Z,]+)\r?$/m.exec(event)?.[1];
    if (names === undefined) {
      exceptions.set(dated(day), { date: dated(day), open: times });
      continue;
    }
    const days = names.split(",").map((name) => NAMES.indexOf(name as (typeof NAMES)[number]));
    blocks.push({ days, ...times });
    for (const [, date = ""] of event.matchAll(/^EXDATE:(\d{8})T\d{6}\r?$/gm))
      if (!exceptions.has(dated(date))) exceptions.set(dated(date), { date: dated(date), open: null });
  }
  const read = {
    blocks,
    exceptions: [...exceptions.values()].sort((one, other) => one.date.localeCompare(other.date)),
    zone,
  };
  // Written anew it must be the same, or something in it is not ours.
  return calendarText(read) === text ? read : null;
}

function dated(day: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;
}

/** Text as calendars of the API hold it: the base64 of its UTF-8. */
export function encoded(text: string): string {
  let bytes = "";
  for (const each of new TextEncoder().encode(text)) bytes += String.fromCharCode(each);
  return btoa(bytes);
}

/** The text of the `data` of a calendar. */
export function decoded(data: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(data), (each) => each.charCodeAt(0)));
  } catch {
    return "";
  }
}

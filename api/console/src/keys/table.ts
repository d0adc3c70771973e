/** All keys of the console: what listens, the help and the tests are made of this table. */

import type { Key } from "../i18n/translate";

/** Where a key works. Keys of a narrower scope take precedence. */
export type KeyPlace =
  | "anywhere"
  | "list"
  | "vehicle"
  | "player"
  | "history"
  | "inbox"
  | "event"
  | "zone"
  | "tickets"
  | "ticket";

export interface KeyEntry {
  /** As `KeyboardEvent.key`, with `Ctrl+` or `Shift+` before it; two keys one after the other with a space. */
  key: string;
  place: KeyPlace;
  act: string;
  label: Key;
  /** An entry that is not listed in the help, since another one names it. */
  hidden?: boolean;
}

export const keys = [
  { key: "/", place: "anywhere", act: "search", label: "keys.search" },
  { key: "Ctrl+k", place: "anywhere", act: "palette", label: "keys.palette" },
  { key: "?", place: "anywhere", act: "help", label: "keys.help" },
  { key: "n", place: "anywhere", act: "alarm", label: "keys.alarm" },
  { key: "g f", place: "anywhere", act: "fleet", label: "keys.goFleet" },
  { key: "g v", place: "anywhere", act: "live", label: "keys.goLive" },
  { key: "g e", place: "anywhere", act: "events", label: "keys.goEvents" },
  { key: "g r", place: "anywhere", act: "reports", label: "keys.goReports" },
  { key: "g t", place: "anywhere", act: "tickets", label: "keys.goTickets" },
  { key: "g z", place: "anywhere", act: "zones", label: "keys.goZones" },
  { key: "g a", place: "anywhere", act: "account", label: "keys.goAccount" },
  { key: "j", place: "list", act: "next", label: "keys.next" },
  { key: "k", place: "list", act: "previous", label: "keys.previous" },
  { key: "ArrowDown", place: "list", act: "next", label: "keys.next", hidden: true },
  { key: "ArrowUp", place: "list", act: "previous", label: "keys.previous", hidden: true },
  { key: "Enter", place: "list", act: "open", label: "keys.open" },
  { key: "x", place: "inbox", act: "select", label: "keys.select" },
  { key: "X", place: "inbox", act: "selectTo", label: "keys.selectTo" },
  { key: "e", place: "inbox", act: "acknowledge", label: "keys.acknowledge" },
  { key: "d", place: "inbox", act: "dismiss", label: "keys.dismiss" },
  { key: "E", place: "inbox", act: "note", label: "keys.note" },
  { key: "Escape", place: "vehicle", act: "back", label: "keys.back" },
  { key: "v", place: "vehicle", act: "live", label: "keys.live" },
  { key: "h", place: "vehicle", act: "history", label: "keys.history" },
  { key: "f", place: "vehicle", act: "follow", label: "keys.follow" },
  { key: "c", place: "vehicle", act: "command", label: "keys.command" },
  { key: "t", place: "vehicle", act: "ticket", label: "keys.ticket" },
  { key: "t", place: "event", act: "ticket", label: "keys.ticket" },
  { key: "c", place: "event", act: "command", label: "keys.command" },
  { key: "e", place: "event", act: "acknowledge", label: "keys.acknowledge" },
  { key: "d", place: "event", act: "dismiss", label: "keys.dismiss" },
  { key: "E", place: "event", act: "note", label: "keys.note" },
  { key: "Escape", place: "event", act: "back", label: "keys.toList" },
  { key: " ", place: "player", act: "pause", label: "keys.pause" },
  { key: "ArrowLeft", place: "player", act: "back5", label: "keys.back5" },
  { key: "ArrowRight", place: "player", act: "on5", label: "keys.on5" },
  { key: "Shift+ArrowLeft", place: "player", act: "back60", label: "keys.back60" },
  { key: "Shift+ArrowRight", place: "player", act: "on60", label: "keys.on60" },
  { key: ",", place: "player", act: "frameBack", label: "keys.frameBack" },
  { key: ".", place: "player", act: "frameOn", label: "keys.frameOn" },
  { key: "-", place: "player", act: "slower", label: "keys.slower" },
  { key: "+", place: "player", act: "faster", label: "keys.faster" },
  { key: "[", place: "player", act: "begin", label: "keys.begin" },
  { key: "]", place: "player", act: "end", label: "keys.end" },
  { key: "k", place: "player", act: "keep", label: "keys.keep" },
  { key: "s", place: "player", act: "still", label: "keys.still" },
  { key: "x", place: "player", act: "sound", label: "keys.sound" },
  { key: "p", place: "player", act: "talk", label: "keys.talk" },
  { key: "1-9", place: "player", act: "camera", label: "keys.camera" },
  { key: "Enter", place: "player", act: "fullScreen", label: "keys.fullScreen" },
  { key: "y", place: "history", act: "yesterday", label: "keys.yesterday" },
  { key: "w", place: "history", act: "week", label: "keys.week" },
  { key: "e", place: "history", act: "export", label: "keys.export" },
  { key: "0-9", place: "history", act: "time", label: "keys.time" },
  { key: "x", place: "tickets", act: "select", label: "keys.select" },
  { key: "X", place: "tickets", act: "selectTo", label: "keys.selectTo" },
  { key: "m", place: "tickets", act: "move", label: "keys.move" },
  { key: "a", place: "tickets", act: "take", label: "keys.take" },
  { key: "A", place: "tickets", act: "give", label: "keys.give" },
  { key: "p", place: "tickets", act: "priority", label: "keys.priority" },
  { key: "c", place: "tickets", act: "create", label: "keys.newTicket" },
  { key: "r", place: "ticket", act: "reply", label: "keys.reply" },
  { key: "i", place: "ticket", act: "note", label: "keys.teamNote" },
  { key: "m", place: "ticket", act: "move", label: "keys.move" },
  { key: "a", place: "ticket", act: "take", label: "keys.take" },
  { key: "A", place: "ticket", act: "give", label: "keys.give" },
  { key: "p", place: "ticket", act: "priority", label: "keys.priority" },
  { key: "e", place: "ticket", act: "escalate", label: "keys.escalate" },
  { key: "+", place: "ticket", act: "evidence", label: "keys.evidence" },
  { key: "c", place: "ticket", act: "command", label: "keys.command" },
  { key: "Escape", place: "ticket", act: "back", label: "keys.toTickets" },
  { key: "Escape", place: "zone", act: "back", label: "keys.back" },
] as const satisfies readonly KeyEntry[];

/** The acts of a place. */
export type Act<P extends KeyPlace> = Extract<(typeof keys)[number], { place: P }>["act"];

/** Digits that an entry of the table stands for. */
const DIGITS: Record<string, RegExp> = { "0-9": /^[0-9]$/, "1-9": /^[1-9]$/ };

/** How a key is written: as in the table, or a digit where the table says `0-9` or `1-9`. */
export function keyName(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
): string {
  const name = event.key.length === 1 && event.ctrlKey ? event.key.toLowerCase() : event.key;
  // Shift is part of what a printing key prints.
  const shift = event.shiftKey && name.length > 1 ? "Shift+" : "";
  const alt = event.altKey ? "Alt+" : "";
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${alt}${shift}${name}`;
}

/** The act of a key in a place, after another key or none. */
export function actOf(place: KeyPlace, name: string, before: string): string | null {
  const wanted = before ? `${before} ${name}` : name;
  const fits = (key: string) => key === wanted || Boolean(DIGITS[key]?.test(wanted));
  return keys.find((entry) => entry.place === place && fits(entry.key))?.act ?? null;
}

/** Whether some sequence begins with this key. */
export function begins(name: string): boolean {
  return keys.some((entry) => entry.key.startsWith(`${name} `));
}

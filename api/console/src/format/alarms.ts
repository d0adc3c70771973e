/** Alarms of events in words, such as `phone in hand, level 1` (docs/attributes.md#alarms). */

import { hasText, type Key, loadTexts, t } from "../i18n/translate";

const DIGITS = /[0-9]{1,5}/;

/** What happened: what the alarm is exactly where that is known, else the alarm. For the middle of a sentence. */
export function alarmText(alarm: string, exact: unknown): string {
  const details = parts(exact);
  const named = details.filter((detail) => found(detail) !== null);
  // Their names come later, and until then, or without them, the alarm says enough.
  if (named.length < details.length) void loadTexts("values").catch(() => {});
  return joined((named.length > 0 ? named : parts(alarm)).map(alarmName));
}

/** The name of an alarm, or of what it is exactly; one that the server does not know as it is. */
export function alarmName(detail: string): string {
  const [name = "", level] = detail.split(":", 2);
  const [key, digits] = found(detail) ?? [null, ""];
  const alarm = key === null ? name : t(key).replace("#", digits);
  return level ? t("event.alarmLevel", { alarm, level }) : alarm;
}

/** The key of the text, and the number in it. */
function found(detail: string): [Key, string] | null {
  const [name = ""] = detail.split(":", 1);
  const [mark, digits] = marked(name);
  const [own, numbered] = [`alarm.${name}`, `alarm.${mark}`];
  if (hasText(own)) return [own, ""];
  return hasText(numbered) ? [numbered, digits] : null;
}

/** `#` for the first number of a key, and the number. */
export function marked(key: string): [string, string] {
  const digits = DIGITS.exec(key)?.[0] ?? "";
  return [digits ? key.replace(digits, "#") : key, digits];
}

/** Texts, each once. */
export function joined(texts: readonly string[]): string {
  return [...new Set(texts)].join("; ");
}

/** What a text with commas lists. */
export function parts(value: unknown): readonly string[] {
  if (typeof value !== "string") return [];
  return value
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

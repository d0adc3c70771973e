/** The settings of the server that can be changed while it runs, as its page has them. */

import { getVersioned, post, put, type Versioned } from "../../api/call";
import type { ChangeableSection, ChangeableSetting, SettingsAtRunTime, TestResult } from "../../api/types";
import { hasText, t } from "../../i18n/translate";

export type { ChangeableSection, ChangeableSetting };
/** A new value; null is back to the default. */
export type Value = string | number | boolean | string[] | null;
/** New values by `section.name`. */
export type Edits = Readonly<Record<string, Value>>;

/** How long things are kept: one part of the page. */
const RETENTION = "retention";
const KEPT = ["positions", "events", "audit", "statistics", "schedules", "files", "captures"];

/** A part of the page. */
export interface Group {
  name: string;
  sections: readonly ChangeableSection[];
}

export function loadSettings(signal: AbortSignal): Promise<Versioned<SettingsAtRunTime>> {
  return getVersioned<SettingsAtRunTime>("/server/settings", signal);
}

/** Save what was edited, unless somebody else has changed settings since. */
export function saveSettings(edits: Edits, version: string, currentPassword?: string): Promise<unknown> {
  const body: Record<string, unknown> = currentPassword ? { currentPassword } : {};
  for (const [key, value] of Object.entries(edits)) {
    const [section = "", name = ""] = key.split(".");
    body[section] = { ...(body[section] as object | undefined), [name]: value };
  }
  return put("/server/settings", body, version);
}

/** Try a section as it is saved; what came of it, in words. */
export async function testSection(section: string): Promise<string> {
  const { result } = await post<TestResult>(`/server/settings/test/${section}`);
  const key = `server.tested.${section}`;
  return t(hasText(key) ? key : "server.tested", { result });
}

/** The parts of the page: the retention of everything is one. */
export function groupsOf({ sections }: SettingsAtRunTime): Group[] {
  const groups: Group[] = [];
  for (const section of sections) {
    const name = KEPT.includes(section.name) ? RETENTION : section.name;
    const known = groups.find((group) => group.name === name);
    if (known) known.sections = [...known.sections, section];
    else groups.push({ name, sections: [section] });
  }
  return groups;
}

export function titleOf(group: Group): string {
  const key = `server.section.${group.name}`;
  return hasText(key) ? t(key) : group.name;
}

/** What the page calls a setting: one that it has no word for by its name in the file. */
export function labelOf(section: string, setting: ChangeableSetting): string {
  for (const key of [`server.name.${section}.${setting.name}`, `server.name.${setting.name}`])
    if (hasText(key)) return t(key);
  const words = setting.name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a setting changes, with names in backticks; in the words of the server if it is newer than the page. */
export function meaningOf(section: string, setting: ChangeableSetting): { text: string; isServers: boolean } {
  const key = `meaning.${section}.${setting.name}`;
  if (hasText(key)) return { text: t(key), isServers: false };
  return { text: setting.description, isServers: true };
}

/** The setting that a refusal is about, such as `mail.port`, and what is said of it. */
export function refusedSetting(text: string): { key: string; text: string } | null {
  const found = /^([a-z]+\.[a-z_]+): (.*)$/s.exec(text);
  return found ? { key: found[1] ?? "", text: found[2] ?? "" } : null;
}

/** A value as it is written in a field; a setting that is unset is empty. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** The value of what was typed; what is no number is left to the server to refuse. */
export function typed(setting: ChangeableSetting, text: string): Value {
  const trimmed = text.trim();
  if (setting.type === "list") return trimmed.split(",").flatMap((each) => each.trim() || []);
  if (setting.type === "integer" || setting.type === "number") {
    const number = Number(trimmed.replace(",", "."));
    return trimmed === "" || Number.isNaN(number) ? trimmed : number;
  }
  return trimmed;
}

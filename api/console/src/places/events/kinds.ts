/** What can happen, for filters: types of events, and each alarm as `alarm:sos` (docs/events.md). */

import { alarmName } from "../../format/alarms";
import { ALARMS, EVENT_TYPES } from "../../format/kindTable";
import { hasText, t } from "../../i18n/translate";
import type { Pick } from "../../parts/Picker";

const PREFIX = "alarm:";

/** A type, or an alarm after `alarm:`, in the language of the reader. */
export function kindName(kind: string): string {
  if (kind.startsWith(PREFIX)) return t("event.alarm", { alarm: alarmName(kind.slice(PREFIX.length)) });
  if (kind === "alarm") return t("event.allAlarms");
  return typeName(kind);
}

/** The name of a type of events; what the page does not know is shown as it is. */
export function typeName(type: string): string {
  const key = `event.type.${type}`;
  return hasText(key) ? t(key) : type;
}

/** All kinds to choose from. */
export function kindChoices(): readonly Pick[] {
  const kinds = EVENT_TYPES.flatMap((type) =>
    type === "alarm" ? [type, ...ALARMS.map((alarm) => PREFIX + alarm)] : [type],
  );
  return kinds.map((kind) => ({ id: kind, name: kindName(kind) }));
}

/** The parameters of the API for these kinds; all alarms count for more than some. */
export function parametersOf(kinds: readonly string[]): { type: string[]; alarm: string[] } {
  const types = kinds.filter((kind) => !kind.startsWith(PREFIX));
  const alarms = kinds.filter((kind) => kind.startsWith(PREFIX)).map((kind) => kind.slice(PREFIX.length));
  if (types.includes("alarm") || alarms.length === 0) return { type: types, alarm: [] };
  return { type: ["alarm", ...types], alarm: alarms };
}

/** The kinds that parameters of an address stand for. */
export function kindsOf(types: readonly string[], alarms: readonly string[]): string[] {
  const others = types.filter((type) => type !== "alarm" && type !== "allEvents");
  if (alarms.length > 0) return [...new Set([...alarms.map((alarm) => PREFIX + alarm), ...others])];
  return [...new Set([...(types.includes("alarm") ? ["alarm"] : []), ...others])];
}

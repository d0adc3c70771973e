/** Schedules with what they name, as they are read. */

import { get } from "../../api/call";
import type { Calendar, Command, Group, ScheduledCommand } from "../../api/types";
import { savedName } from "../../commands/names";
import { t } from "../../i18n/translate";
import { snapshot } from "../../state/fleet";
import { type Loaded, read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";

export function useSchedules(): Loaded<readonly ScheduledCommand[]> {
  return useLoaded("schedules", (signal) =>
    get<readonly ScheduledCommand[]>("/scheduledcommands", undefined, signal),
  );
}

export function useCalendars(): Loaded<readonly Calendar[]> {
  return useLoaded("calendars", () => read<readonly Calendar[]>("/calendars"));
}

/** The saved commands that the reader sees, by their ids. */
export function useSavedCommands(): ReadonlyMap<number, Command> | undefined {
  const found = useLoaded("saved commands", () => read<readonly Command[]>("/commands")).value;
  return found && new Map(found.map((each) => [each.id, each]));
}

export function useGroups(): readonly Group[] {
  return useLoaded("groups", () => read<readonly Group[]>("/groups")).value ?? [];
}

/** What a saved command is called; one that the reader does not see by its number. */
export function commandName(commands: ReadonlyMap<number, Command> | undefined, id: number): string {
  const found = commands?.get(id);
  return found ? savedName(found) : t("schedule.hiddenCommand", { id });
}

/** The vehicles that the reader sees of devices and groups, each once, with those in groups below. */
export function vehiclesOf(
  deviceIds: readonly number[],
  groupIds: readonly number[],
  groups: readonly Group[],
): readonly number[] {
  const inside = new Set(groupIds);
  for (let size = -1; size !== inside.size; ) {
    size = inside.size;
    for (const { id, groupId } of groups) if (inside.has(groupId)) inside.add(id);
  }
  const chosen = new Set(deviceIds);
  return snapshot(true)
    .filter(({ device }) => chosen.has(device.id) || inside.has(device.groupId))
    .map(({ device }) => device.id);
}

/** `A, B and C` in the reader's language. */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat(style.value.language).format(names);
}

/** Scheduled reports with the vehicles and groups that they are of: reading and saving. */

import { get, getVersioned, post, put, remove } from "../../api/call";
import type { Calendar, ScheduledReport } from "../../api/types";
import { t } from "../../i18n/translate";
import { drop } from "../../state/responseCache";

const PATH = "/reports";
const KINDS = ["deviceId", "groupId", "userId"] as const;
type LinkKind = (typeof KINDS)[number];
export type Links = Readonly<Record<LinkKind, readonly number[]>>;

export const NO_LINKS: Links = { deviceId: [], groupId: [], userId: [] };
export const BLANK: ScheduledReport = {
  id: 0,
  description: null,
  type: "trips",
  calendarId: 0,
  attributes: {},
};

/** How often, where no calendar was made for it yet. */
export const PRESETS = ["daily", "weekly"] as const;
export type Preset = (typeof PRESETS)[number];

/** iCalendar text (RFC 5545) of days, or of weeks from Monday, in local times of a zone. */
export function presetText(preset: Preset, zone: string): string {
  const end = preset === "daily" ? "20240102" : "20240108";
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Motorpool//Console//EN",
    `X-WR-TIMEZONE:${zone}`,
    "BEGIN:VEVENT",
    `UID:report-${preset}@motorpool`,
    "DTSTART:20240101T000000",
    `DTEND:${end}T000000`,
    `RRULE:FREQ=${preset.toUpperCase()}`,
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ].join("\r\n");
}

/** The calendar of a preset: the one that was made before, or a new one. */
async function calendarOf(preset: Preset, zone: string): Promise<number> {
  const data = btoa(presetText(preset, zone));
  const known = await get<Calendar[]>("/calendars");
  const same = known.find((calendar) => calendar.data === data);
  if (same) return same.id;
  const made = await post<Calendar>("/calendars", { name: t(`report.preset.${preset}`), data });
  drop("/calendars");
  return made.id;
}

/** The links of a scheduled report, of those that the reader sees. */
export async function linksOf(reportId: number, signal?: AbortSignal): Promise<Links> {
  const found = await Promise.all(
    KINDS.map(async (kind) => {
      const links = await get<Record<string, number>[]>("/permissions", { [kind]: 0, reportId }, signal);
      return [kind, links.flatMap((link) => link[kind] ?? [])] as const;
    }),
  );
  return Object.fromEntries(found) as unknown as Links;
}

/** What is saved; `calendar` is the number of one, or a preset. */
export interface Saved {
  record: ScheduledReport;
  calendar: number | Preset;
  before: Links;
  links: Links;
}

/** Store a scheduled report, then its links. Throws a `Problem`. */
export async function saveScheduled({ record, calendar, before, links }: Saved, zone: string): Promise<void> {
  const calendarId = typeof calendar === "number" ? calendar : await calendarOf(calendar, zone);
  const mine = { ...record, calendarId };
  let { id } = record;
  if (id === 0) {
    const { id: _, ...body } = mine;
    id = (await post<ScheduledReport>(PATH, body)).id;
  } else {
    const { version } = await getVersioned<ScheduledReport>(`${PATH}/${id}`);
    await put<ScheduledReport>(`${PATH}/${id}`, mine, version);
  }
  for (const kind of KINDS) {
    const pairs = (ids: readonly number[]) => ids.map((each) => ({ [kind]: each, reportId: id }));
    const added = pairs(links[kind].filter((each) => !before[kind].includes(each)));
    const gone = pairs(before[kind].filter((each) => !links[kind].includes(each)));
    if (added.length > 0) await post<void>("/permissions/bulk", added);
    if (gone.length > 0) await remove("/permissions/bulk", gone);
  }
}

export function deleteScheduled(id: number): Promise<void> {
  return remove(`${PATH}/${id}`);
}

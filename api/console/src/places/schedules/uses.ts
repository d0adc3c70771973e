/** What uses a calendar, as far as the reader sees it. */

import type {
  Company,
  Geofence,
  Notification,
  ScheduledCommand,
  ScheduledReport,
  TicketPriority,
} from "../../api/types";
import { t } from "../../i18n/translate";
import { snapshot } from "../../state/fleet";
import { read } from "../../state/responseCache";

export type UseKind = "schedule" | "zone" | "notification" | "report" | "priority" | "vehicle";

export interface Use {
  kind: UseKind;
  name: string;
  to: string;
}

/** Everything that names a calendar. What cannot be read is left out. */
export async function usesOf(id: number): Promise<readonly Use[]> {
  const [schedules, zones, notifications, reports, priorities] = await Promise.all([
    all<ScheduledCommand>("/scheduledcommands"),
    all<Geofence>("/geofences"),
    all<Notification>("/notifications"),
    all<ScheduledReport>("/reports"),
    prioritiesOfAll(),
  ]);
  return [
    ...schedules
      .filter(({ calendarId }) => calendarId === id)
      .map(({ id: of, name }) => use("schedule", name, `/schedules/${of}`)),
    ...zones
      .filter(({ calendarId }) => calendarId === id)
      .map(({ id: of, name }) => use("zone", name, `/zones/${of}`)),
    ...notifications
      .filter(({ calendarId }) => calendarId === id)
      .map(({ id: of, description, type }) =>
        use("notification", description?.trim() || type, `/admin/notifications?open=${of}`),
      ),
    ...reports
      .filter(({ calendarId }) => calendarId === id)
      .map(({ description, type }) => use("report", description?.trim() || type, "/reports/scheduled")),
    ...priorities
      .filter(({ calendarId, attributes }) => calendarId === id || attributes.holidayCalendarId === id)
      .map(({ companyId, name }) => use("priority", name, `/helpdesk/${companyId}/priorities`)),
    ...snapshot(true)
      .filter(({ device }) => device.calendarId === id)
      .map(({ device }) => use("vehicle", device.name, `/vehicles/${device.id}/settings`)),
  ];
}

function use(kind: UseKind, name: string, to: string): Use {
  return { kind, name, to };
}

async function all<T>(path: string): Promise<readonly T[]> {
  return read<readonly T[]>(path).catch(() => []);
}

async function prioritiesOfAll(): Promise<readonly TicketPriority[]> {
  const companies = await all<Company>("/companies");
  const found = await Promise.all(
    companies.map(({ id }) =>
      read<readonly TicketPriority[]>("/ticketpriorities", { companyId: id }).catch(() => []),
    ),
  );
  return found.flat();
}

/** `Schedule`, `Zone`, … */
export function useWord(kind: UseKind): string {
  return t(`schedule.use.${kind}`);
}

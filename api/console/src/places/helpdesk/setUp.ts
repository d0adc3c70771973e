/** Sets a company up, step by step; what was made stays made when a later step fails, and is not made twice. */

import { post, put } from "../../api/call";
import type { Calendar, Company, Team, TicketDefaults } from "../../api/types";
import { type Block, calendarText, encoded } from "../../calendars/blocks";
import { language } from "../../i18n/translate";
import { drop } from "../../state/responseCache";

export interface Wanted {
  name: string;
  zone: string;
  /** Null: every minute counts. */
  hours: readonly Block[] | null;
  /** What the calendar of the business hours is called. */
  calendarName: string;
  teamName: string;
  /** Users who handle tickets. */
  memberIds: readonly number[];
}

export const STEPS = ["company", "defaults", "hours", "team", "members"] as const;
export type Step = (typeof STEPS)[number];

/** What has been made so far. */
export interface Made {
  companyId?: number;
  defaults?: TicketDefaults;
  calendarId?: number;
  /** Priorities that have the business hours. */
  priorityIds?: readonly number[];
  teamId?: number;
  memberIds?: readonly number[];
}

/** Which step failed; what was made before it is in the `Made` that was given. */
export class StepFailed extends Error {
  constructor(
    readonly step: Step,
    override readonly cause: unknown,
  ) {
    super(`${step} failed`);
  }
}

/** Make what is missing. Returns the id of the company; throws `StepFailed`. */
export async function setUp(wanted: Wanted, made: Made): Promise<number> {
  try {
    const companyId = await step("company", () => company(wanted, made));
    await step("defaults", async () => {
      made.defaults ??= await makeDefaults(companyId);
    });
    const { hours } = wanted;
    if (hours) await step("hours", () => businessHours(wanted, hours, made));
    await step("team", () => team(wanted, companyId, made));
    await step("members", () => members(wanted, made));
    return companyId;
  } finally {
    for (const path of ["/companies", "/calendars", "/teams", "/ticket"]) drop(path);
  }
}

/** Make the standard categories, priorities and statuses, with names in the reader's language. */
export function makeDefaults(companyId: number): Promise<TicketDefaults> {
  return post<TicketDefaults>("/tickets/defaults", { companyId, language: language.peek() });
}

async function step<T>(name: Step, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw new StepFailed(name, cause);
  }
}

async function company({ name, zone }: Wanted, made: Made): Promise<number> {
  made.companyId ??= (await post<Company>("/companies", { name, attributes: { timezone: zone } })).id;
  return made.companyId;
}

async function businessHours(wanted: Wanted, hours: readonly Block[], made: Made): Promise<void> {
  const data = encoded(calendarText({ blocks: hours, exceptions: [], zone: wanted.zone }));
  made.calendarId ??= (await post<Calendar>("/calendars", { name: wanted.calendarName, data })).id;
  for (const priority of made.defaults?.priorities ?? []) {
    if (made.priorityIds?.includes(priority.id)) continue;
    await put(`/ticketpriorities/${priority.id}`, { ...priority, calendarId: made.calendarId });
    made.priorityIds = [...(made.priorityIds ?? []), priority.id];
  }
}

async function team({ teamName }: Wanted, companyId: number, made: Made): Promise<void> {
  made.teamId ??= (await post<Team>("/teams", { companyId, name: teamName })).id;
}

async function members({ memberIds }: Wanted, made: Made): Promise<void> {
  for (const userId of memberIds) {
    if (made.memberIds?.includes(userId)) continue;
    await put(`/teams/${made.teamId}/members/${userId}`, {});
    made.memberIds = [...(made.memberIds ?? []), userId];
  }
}

/** The audit log (docs/server.md#audit): filters in the address, what is asked for, where objects are. Pure. */

import type { Query } from "../../api/call";
import type { AuditAction } from "../../api/types";
import { withQuery } from "../../router";
import { resolveSpan, type SpanText, spanOfQuery } from "../../time/spans";

export const PLACE = "/admin/audit";
export const PAGE = 100;
const USUAL: SpanText = { from: "now-7d/d", to: "now" };

export const ACTIONS = [
  "create",
  "edit",
  "remove",
  "link",
  "unlink",
  "login",
  "logout",
  "denied",
  "locked",
  "refused",
  "command",
  "commandFailed",
  "capture",
  "download",
  "upload",
  "run",
  "announcement",
  "reboot",
  "backup",
  "backupEnd",
  "bind",
  "accumulators",
  "talkStart",
  "talkEnd",
  "keep",
  "release",
  "deleteFile",
  "ownerDeleted",
  "review",
  "report",
] as const;

export const OBJECTS = [
  "device",
  "user",
  "group",
  "geofence",
  "driver",
  "calendar",
  "notification",
  "scheduledCommand",
  "command",
  "maintenance",
  "order",
  "attribute",
  "report",
  "ticket",
  "company",
  "event",
  "server",
  "settings",
  "signingKeys",
  "token",
  "session",
  "share",
  "invitation",
  "position",
  "team",
  "branch",
  "contact",
  "ticketCategory",
  "ticketPriority",
  "ticketStatus",
  "driverAssignment",
  "queuedCommand",
  "file",
] as const;

export interface AuditFilters {
  userId: number | null;
  actionType: string | null;
  objectType: string | null;
  objectId: number | null;
  span: SpanText;
}

function numberOf(text: string | null): number | null {
  const number = Number(text);
  return text && Number.isInteger(number) && number >= 0 ? number : null;
}

/** The filters of an address; what it says wrongly does not count. */
export function filtersOf(query: URLSearchParams): AuditFilters {
  const objectType = query.get("objectType") || null;
  return {
    userId: numberOf(query.get("userId")),
    actionType: query.get("actionType") || null,
    objectType,
    objectId: objectType ? numberOf(query.get("objectId")) : null,
    span: spanOfQuery(query, USUAL),
  };
}

export function addressOf({ span, ...filters }: AuditFilters): string {
  const text = (value: number | null) => (value === null ? null : String(value));
  const isUsual = span.from === USUAL.from && span.to === USUAL.to;
  return withQuery(PLACE, {
    userId: text(filters.userId),
    actionType: filters.actionType,
    objectType: filters.objectType,
    objectId: filters.objectType ? text(filters.objectId) : null,
    from: isUsual ? null : span.from,
    to: isUsual ? null : span.to,
  });
}

/** What the server is asked for; null if the span cannot be read. */
export function requestOf({ span, ...filters }: AuditFilters, now: number, zone: string): Query | null {
  const found = resolveSpan(span, now, zone);
  if (!found) return null;
  const [from, to] = [found.from, found.to].map((at) => new Date(at).toISOString());
  return { from, to, limit: PAGE, ...filters };
}

const PAGES: Record<string, (id: number) => string> = {
  device: (id) => `/vehicles/${id}`,
  user: (id) => `/admin/users/${id}`,
  invitation: (id) => `/admin/users/${id}`,
  share: (id) => `/admin/users/${id}`,
  group: () => "/admin/groups",
  geofence: (id) => `/zones/${id}`,
  driver: () => "/admin/drivers",
  calendar: (id) => `/calendars/${id}`,
  notification: (id) => `/admin/notifications?open=${id}`,
  scheduledCommand: (id) => `/schedules/${id}`,
  command: () => "/admin/commands",
  maintenance: () => "/admin/maintenance",
  order: () => "/admin/orders",
  attribute: () => "/admin/attributes",
  report: () => "/reports/scheduled",
  ticket: (id) => `/tickets/${id}`,
  company: (id) => `/helpdesk/${id}`,
  event: (id) => `/events/${id}`,
  server: () => "/admin/status",
  settings: () => "/admin/server",
  signingKeys: () => "/admin/backup",
};

/** Where the object of an action is shown; null if it is nowhere, or deleted by it. */
export function pageOf({ objectType, objectId, actionType }: AuditAction): string | null {
  const page = objectType === null ? undefined : PAGES[objectType];
  if (!page || actionType === "remove") return null;
  return objectId > 0 || !/\d/.test(page(1)) ? page(objectId) : null;
}

/** The attributes of an action as lines of name and value; who acted as another is told elsewhere. */
export function detailsOf({ attributes }: AuditAction): readonly [string, string][] {
  return Object.entries(attributes)
    .filter(([name]) => name !== "impersonatorId")
    .map(([name, value]) => [name, valueText(value)]);
}

function valueText(value: unknown): string {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    const { before, after, ...others } = value as Record<string, unknown>;
    if (Object.keys(others).length === 0 && (before !== undefined || after !== undefined))
      return [before, after].map((each) => (each === undefined ? "–" : valueText(each))).join(" → ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

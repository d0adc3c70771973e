/** What is administered where: the sections of the administration, each a place with an address. */

import type { Key } from "../../i18n/translate";
import { may, session } from "../../state/session";

export interface AdminSection {
  to: string;
  label: Key;
  /** What it is for, in a sentence. */
  text: Key;
  group: "people" | "vehicles" | "automation" | "server";
  /** Who sees it. */
  allowed: () => boolean;
}

/** Whether the reader is no guest of a share link. */
const hasAccount = () => !session.value?.temporary;
const administers = () => may("administer");

const SECTIONS: readonly AdminSection[] = [
  {
    to: "/admin/users",
    label: "admin.users",
    text: "admin.usersText",
    group: "people",
    allowed: () => may("manageUsers"),
  },
  {
    to: "/admin/groups",
    label: "admin.groups",
    text: "admin.groupsText",
    group: "people",
    allowed: hasAccount,
  },
  {
    to: "/admin/links",
    label: "admin.links",
    text: "admin.linksText",
    group: "people",
    allowed: hasAccount,
  },
  {
    to: "/helpdesk",
    label: "frame.helpdesk",
    text: "admin.helpdeskText",
    group: "people",
    allowed: hasAccount,
  },
  {
    to: "/admin/devices",
    label: "admin.devices",
    text: "admin.devicesText",
    group: "vehicles",
    allowed: hasAccount,
  },
  {
    to: "/admin/drivers",
    label: "admin.drivers",
    text: "admin.driversText",
    group: "vehicles",
    allowed: hasAccount,
  },
  {
    to: "/admin/maintenance",
    label: "admin.maintenance",
    text: "admin.maintenanceText",
    group: "vehicles",
    allowed: hasAccount,
  },
  {
    to: "/admin/orders",
    label: "admin.orders",
    text: "admin.ordersText",
    group: "vehicles",
    allowed: hasAccount,
  },
  {
    to: "/admin/attributes",
    label: "admin.attributes",
    text: "admin.attributesText",
    group: "vehicles",
    allowed: administers,
  },
  {
    to: "/admin/commands",
    label: "admin.commands",
    text: "admin.commandsText",
    group: "vehicles",
    allowed: hasAccount,
  },
  {
    to: "/admin/notifications",
    label: "admin.notifications",
    text: "admin.notificationsText",
    group: "automation",
    allowed: hasAccount,
  },
  {
    to: "/admin/status",
    label: "admin.status",
    text: "admin.statusText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/server",
    label: "admin.settings",
    text: "admin.settingsText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/announcement",
    label: "admin.announcement",
    text: "admin.announcementText",
    group: "server",
    allowed: () => may("manageUsers"),
  },
  {
    to: "/admin/backup",
    label: "admin.backup",
    text: "admin.backupText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/storage",
    label: "admin.storage",
    text: "admin.storageText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/audit",
    label: "admin.audit",
    text: "admin.auditText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/statistics",
    label: "admin.statistics",
    text: "admin.statisticsText",
    group: "server",
    allowed: administers,
  },
  {
    to: "/admin/actors",
    label: "admin.actors",
    text: "admin.actorsText",
    group: "server",
    allowed: administers,
  },
];

export const GROUPS = ["people", "vehicles", "automation", "server"] as const;

/** The sections that the reader may use. */
export function adminSections(): readonly AdminSection[] {
  return SECTIONS.filter(({ allowed }) => allowed());
}

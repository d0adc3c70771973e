/** Which place stands at which address; each place is a chunk of its own. The first pattern that fits counts. */

import type { ReadonlySignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { loadAttributeWords } from "./format/attributeWords";
import { type Key, loadTexts, type Part } from "./i18n/translate";
import type { IconName } from "./parts/Icon";
import { waitingCount } from "./state/reviews";
import { may, session } from "./state/session";
import { overdueOfMine } from "./state/tickets";
import { recording } from "./video/recorded/captures";

export { Link } from "./Link";
export { go, location, withQuery } from "./router";

/** What a place is: `export default function Place(props: PlaceProps)`. */
export interface PlaceProps {
  params: Record<string, string>;
}
type Chunk = () => Promise<{ default: ComponentType<PlaceProps> }>;

export interface Route {
  pattern: string;
  load: Chunk;
  /** Open to people who are not logged in, and drawn without the rail. */
  open?: boolean;
  /** Has a map beside its list, which is seen while the place is loaded. */
  map?: boolean;
  /** Open to guests of a share link, who see the page of guests at all other addresses. */
  guest?: boolean;
}

/** A place that the rail leads to. */
export interface RailEntry {
  to: string;
  icon: IconName;
  label: Key;
  /** Addresses that begin so belong to it. */
  under: readonly string[];
  /** A number beside the icon while it is not 0, and what it counts. */
  count?: { of: ReadonlySignal<number>; label: Key };
  /** Whether it is under *More* in the bar of a phone. */
  more?: boolean;
  /** Who sees it; without it all. */
  allowed?: () => boolean;
}

const fleet: Chunk = () => import("./places/fleet/Fleet");
const live: Chunk = () => import("./places/live/Live");
const vehicleLive: Chunk = () => import("./places/vehicle/VehicleLive");
const vehicleHistory: Chunk = () => import("./places/vehicle/history/History");
const library: Chunk = () => import("./places/library/Library");
const vehicleCommands: Chunk = () => import("./places/vehicle/commands/Commands");
const sent: Chunk = () => import("./places/sent/SentCommands");
const zones: Chunk = () => withTexts(import("./places/zones/Zones"), "calendars", "records");
const schedules: Chunk = () =>
  withTexts(import("./places/schedules/Schedules"), "schedules", "calendars", "records");
const schedule: Chunk = () =>
  withTexts(import("./places/schedules/SchedulePage"), "schedules", "calendars", "records");
const calendars: Chunk = () =>
  withTexts(import("./places/schedules/Calendars"), "schedules", "calendars", "records");
const calendar: Chunk = () =>
  withTexts(import("./places/schedules/CalendarPage"), "schedules", "calendars", "records");
const vehicleSettings: Chunk = () => import("./places/vehicle/settings/VehicleSettings");
const vehicleMessages: Chunk = () =>
  beside(withTexts(import("./places/vehicle/messages/Messages"), "messages"), loadAttributeWords());
const share: Chunk = () => import("./places/share/Share");
const events: Chunk = () => import("./places/events/Events");
const eventProof: Chunk = () => beside(import("./places/events/EventProof"), loadAttributeWords());
const vehicleEvents: Chunk = () => import("./places/events/VehicleEvents");
const login: Chunk = () => import("./places/login/Login");
const codes: Chunk = () => import("./places/login/SetUpCodes");
const account: Chunk = () =>
  beside(
    withTexts(import("./places/account/Account"), "notifications", "calendars", "records"),
    loadAttributeWords(),
  );
const connect: Chunk = () => withTexts(import("./places/connect/Connect"), "connect");
const helpdesk: Chunk = () =>
  withTexts(import("./places/helpdesk/Helpdesk"), "helpdesk", "records", "calendars");
const newCompany: Chunk = () =>
  withTexts(import("./places/helpdesk/NewCompany"), "helpdesk", "records", "calendars");
const company: Chunk = () =>
  withTexts(import("./places/helpdesk/CompanyPlace"), "helpdesk", "records", "calendars");
const ticketStart: Chunk = () => withTexts(import("./places/tickets/TicketStart"), "tickets");
const ticketList: Chunk = () => withTexts(import("./places/tickets/TicketList"), "tickets");
const board: Chunk = () => withTexts(import("./places/tickets/Board"), "tickets");
const ticket: Chunk = () => withTexts(import("./places/tickets/TicketPage"), "tickets");
const admin: Chunk = () => withTexts(import("./places/admin/Admin"), "admin");
const users: Chunk = () => withTexts(import("./places/people/Users"), "admin", "people");
const user: Chunk = () => withTexts(import("./places/people/UserPlace"), "admin", "people");
const groups: Chunk = () => withTexts(import("./places/people/Groups"), "admin", "people", "records");
const links: Chunk = () => withTexts(import("./places/people/Links"), "admin", "people");
const adminDevices: Chunk = () => withTexts(import("./places/admin/vehicles/Devices"), "admin", "vehicles");
const adminDrivers: Chunk = () =>
  withTexts(import("./places/admin/vehicles/Drivers"), "admin", "records", "vehicles");
const adminMaintenance: Chunk = () =>
  withTexts(import("./places/admin/vehicles/Maintenance"), "admin", "records", "vehicles");
const adminOrders: Chunk = () =>
  withTexts(import("./places/admin/vehicles/Orders"), "admin", "records", "vehicles");
const adminAttributes: Chunk = () =>
  withTexts(import("./places/admin/vehicles/ComputedAttributes"), "admin", "records", "vehicles");
const adminCommands: Chunk = () =>
  withTexts(import("./places/admin/vehicles/SavedCommands"), "admin", "records", "vehicles");
const notifications: Chunk = () =>
  withTexts(import("./places/admin/Notifications"), "admin", "notifications", "calendars", "records");
const overview: Chunk = () => withTexts(import("./places/overview/Overview"), "overview");
const reports: Chunk = () =>
  beside(withTexts(import("./places/reports/Reports"), "records", "reports"), loadAttributeWords());
const scheduledReports: Chunk = () =>
  withTexts(import("./places/reports/ScheduledReports"), "calendars", "records", "reports");
const statistics: Chunk = () => withTexts(import("./places/server/Statistics"), "admin", "upkeep");
const actors: Chunk = () => withTexts(import("./places/server/Actors"), "admin", "upkeep");
const serverStatus: Chunk = () => withTexts(import("./places/server/Status"), "admin", "upkeep");
const storage: Chunk = () => withTexts(import("./places/server/Storage"), "admin", "upkeep", "server");
const audit: Chunk = () => withTexts(import("./places/server/Audit"), "admin", "upkeep", "people");
const backup: Chunk = () => withTexts(import("./places/server/Backup"), "admin", "upkeep");
const announcement: Chunk = () =>
  withTexts(import("./places/server/Announcement"), "admin", "upkeep", "people", "notifications", "records");
const server: Chunk = () => withTexts(import("./places/server/Server"), "admin", "meanings", "server");

/** A place, once what it shows is loaded as well. */
async function beside(place: ReturnType<Chunk>, shown: Promise<unknown>) {
  return (await Promise.all([place, shown]))[0];
}

/** A place, once the texts that it needs besides those of the start are loaded as well. */
function withTexts(place: ReturnType<Chunk>, ...parts: readonly Part[]) {
  return beside(place, Promise.all(parts.map(loadTexts)));
}

export const routes: readonly Route[] = [
  { pattern: "/", load: fleet, map: true },
  { pattern: "/fleet", load: fleet, map: true },
  { pattern: "/vehicles/:id", load: fleet, map: true },
  { pattern: "/vehicles/:id/history", load: vehicleHistory },
  { pattern: "/vehicles/:id/live", load: vehicleLive, guest: true },
  { pattern: "/vehicles/:id/commands", load: vehicleCommands },
  { pattern: "/vehicles/:id/settings", load: vehicleSettings },
  { pattern: "/vehicles/:id/messages", load: vehicleMessages },
  { pattern: "/live", load: live },
  { pattern: "/library", load: library },
  { pattern: "/commands", load: sent },
  { pattern: "/schedules", load: schedules },
  { pattern: "/schedules/:id", load: schedule },
  { pattern: "/calendars", load: calendars },
  { pattern: "/calendars/:id", load: calendar },
  { pattern: "/zones", load: zones, map: true },
  { pattern: "/zones/:id", load: zones, map: true },
  { pattern: "/vehicles/:id/events", load: vehicleEvents },
  { pattern: "/events", load: events },
  { pattern: "/events/:id", load: eventProof },
  { pattern: "/tickets", load: ticketStart },
  { pattern: "/tickets/list", load: ticketList },
  { pattern: "/tickets/board", load: board },
  { pattern: "/tickets/:id", load: ticket },
  { pattern: "/overview", load: overview },
  { pattern: "/reports", load: reports },
  { pattern: "/reports/scheduled", load: scheduledReports },
  { pattern: "/reports/:kind", load: reports },
  { pattern: "/connect", load: connect },
  { pattern: "/account", load: account },
  { pattern: "/helpdesk", load: helpdesk },
  { pattern: "/helpdesk/new", load: newCompany },
  { pattern: "/helpdesk/:id", load: company },
  { pattern: "/helpdesk/:id/:section", load: company },
  { pattern: "/admin", load: admin },
  { pattern: "/admin/users", load: users },
  { pattern: "/admin/users/:id", load: user },
  { pattern: "/admin/groups", load: groups },
  { pattern: "/admin/links", load: links },
  { pattern: "/admin/devices", load: adminDevices },
  { pattern: "/admin/drivers", load: adminDrivers },
  { pattern: "/admin/maintenance", load: adminMaintenance },
  { pattern: "/admin/orders", load: adminOrders },
  { pattern: "/admin/attributes", load: adminAttributes },
  { pattern: "/admin/commands", load: adminCommands },
  { pattern: "/admin/notifications", load: notifications },
  { pattern: "/admin/server", load: server },
  { pattern: "/admin/status", load: serverStatus },
  { pattern: "/admin/storage", load: storage },
  { pattern: "/admin/audit", load: audit },
  { pattern: "/admin/backup", load: backup },
  { pattern: "/admin/announcement", load: announcement },
  { pattern: "/admin/statistics", load: statistics },
  { pattern: "/admin/actors", load: actors },
  { pattern: "/share", load: share, open: true, guest: true },
  { pattern: "/login", load: login, open: true },
  { pattern: "/reset-password", load: login, open: true },
];

/** What is shown at any address while one-time codes have to be set up. */
export const codesRoute: Route = { pattern: "/login", load: codes, open: true };

const entries: readonly RailEntry[] = [
  {
    to: "/overview",
    icon: "overview",
    label: "frame.overview",
    under: ["/overview"],
    more: true,
    allowed: () => !session.value?.temporary,
  },
  { to: "/fleet", icon: "map", label: "frame.fleet", under: ["/fleet", "/vehicles", "/connect"] },
  { to: "/live", icon: "wall", label: "live.title", under: ["/live"] },
  {
    to: "/library",
    icon: "still",
    label: "library.title",
    under: ["/library"],
    count: { of: recording, label: "capture.running" },
    more: true,
    allowed: () => may("reports"),
  },
  { to: "/zones", icon: "zone", label: "zone.title", under: ["/zones"] },
  {
    to: "/events",
    icon: "events",
    label: "event.title",
    under: ["/events"],
    count: { of: waitingCount, label: "review.count" },
    allowed: () => may("reports"),
  },
  {
    to: "/tickets",
    icon: "ticket",
    label: "frame.tickets",
    under: ["/tickets"],
    count: { of: overdueOfMine, label: "frame.ticketsOverdue" },
    allowed: () => may("token"),
  },
  {
    to: "/reports",
    icon: "chart",
    label: "frame.reports",
    under: ["/reports"],
    more: true,
    allowed: () => may("reports"),
  },
  {
    to: "/commands",
    icon: "command",
    label: "sent.rail",
    under: ["/commands", "/schedules", "/calendars"],
    more: true,
    allowed: () => may("reports"),
  },
  {
    // Who may not read the log has the other pages of the place.
    to: "/schedules",
    icon: "command",
    label: "sent.rail",
    under: ["/schedules", "/calendars"],
    more: true,
    allowed: () => !may("reports") && !session.value?.temporary,
  },
  {
    to: "/admin",
    icon: "settings",
    label: "frame.adminRail",
    under: ["/admin", "/helpdesk"],
    more: true,
    allowed: () => !session.value?.temporary,
  },
];

/** The entries of the rail that the user sees. */
export function railEntries(): readonly RailEntry[] {
  return entries.filter((entry) => entry.allowed?.() ?? true);
}

/** Which place stands at which address; each place is a chunk of its own. The first pattern that fits counts. */

import type { ReadonlySignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { loadAttributeWords } from "./format/attributeWords";
import { type Key, loadTexts } from "./i18n/translate";
import type { IconName } from "./parts/Icon";
import { waitingCount } from "./state/reviews";
import { may } from "./state/session";
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
const zones: Chunk = () => import("./places/zones/Zones");
const vehicleSettings: Chunk = () => import("./places/vehicle/settings/VehicleSettings");
const share: Chunk = () => import("./places/share/Share");
const events: Chunk = () => import("./places/events/Events");
const eventProof: Chunk = () => beside(import("./places/events/EventProof"), loadAttributeWords());
const vehicleEvents: Chunk = () => import("./places/events/VehicleEvents");
const login: Chunk = () => import("./places/login/Login");
const codes: Chunk = () => import("./places/login/SetUpCodes");
const account: Chunk = () => beside(import("./places/account/Account"), loadAttributeWords());
const connect: Chunk = () => beside(import("./places/connect/Connect"), loadTexts("connect"));
const server: Chunk = () => beside(import("./places/server/Server"), loadTexts("server"));

/** A place, once what it shows is loaded as well. */
async function beside(place: ReturnType<Chunk>, shown: Promise<void>) {
  return (await Promise.all([place, shown]))[0];
}

export const routes: readonly Route[] = [
  { pattern: "/", load: fleet, map: true },
  { pattern: "/fleet", load: fleet, map: true },
  { pattern: "/vehicles/:id", load: fleet, map: true },
  { pattern: "/vehicles/:id/history", load: vehicleHistory },
  { pattern: "/vehicles/:id/live", load: vehicleLive, guest: true },
  { pattern: "/vehicles/:id/commands", load: vehicleCommands },
  { pattern: "/vehicles/:id/settings", load: vehicleSettings },
  { pattern: "/live", load: live },
  { pattern: "/library", load: library },
  { pattern: "/zones", load: zones, map: true },
  { pattern: "/zones/:id", load: zones, map: true },
  { pattern: "/vehicles/:id/events", load: vehicleEvents },
  { pattern: "/events", load: events },
  { pattern: "/events/:id", load: eventProof },
  { pattern: "/connect", load: connect },
  { pattern: "/account", load: account },
  { pattern: "/server", load: server },
  { pattern: "/share", load: share, open: true, guest: true },
  { pattern: "/login", load: login, open: true },
  { pattern: "/reset-password", load: login, open: true },
];

/** What is shown at any address while one-time codes have to be set up. */
export const codesRoute: Route = { pattern: "/login", load: codes, open: true };

const entries: readonly RailEntry[] = [
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
    to: "/server",
    icon: "settings",
    label: "frame.server",
    under: ["/server"],
    more: true,
    allowed: () => may("administer"),
  },
];

/** The entries of the rail that the user sees. */
export function railEntries(): readonly RailEntry[] {
  return entries.filter((entry) => entry.allowed?.() ?? true);
}

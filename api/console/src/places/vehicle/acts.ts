/** What can be done with a vehicle: the same in its panel, in the menu of a row and of a marker, and by keys. */

import type { Key } from "../../i18n/translate";
import type { IconName } from "../../parts/Icon";
import { withQuery } from "../../router";
import { routes } from "../../routes";
import { may, session } from "../../state/session";
import { instantText } from "../../time/spans";

export interface VehicleAct {
  key: "live" | "history" | "events" | "commands" | "settings";
  label: Key;
  icon: IconName;
  to: (id: number) => string;
}

const ACTS: readonly (VehicleAct & { allowed?: () => boolean })[] = [
  { key: "live", label: "vehicle.live", icon: "camera", to: (id) => `/vehicles/${id}/live` },
  {
    key: "history",
    label: "vehicle.history",
    icon: "history",
    to: (id) => `/vehicles/${id}/history`,
    allowed: () => may("reports"),
  },
  {
    key: "events",
    label: "vehicle.events",
    icon: "events",
    to: (id) => `/vehicles/${id}/events`,
    allowed: () => may("reports"),
  },
  {
    key: "commands",
    label: "vehicle.commands",
    icon: "command",
    to: (id) => `/vehicles/${id}/commands`,
    allowed: () => may("command"),
  },
  {
    key: "settings",
    label: "vehicle.settings",
    icon: "settings",
    to: (id) => `/vehicles/${id}/settings`,
    allowed: () => may("editDevices"),
  },
];

/** The acts that have a place and are allowed to the user. */
export function vehicleActs(): readonly VehicleAct[] {
  return ACTS.filter(
    (act) =>
      routes.some(
        (route) => route.pattern === `/vehicles/:id/${act.key}` && (route.guest || !session.value?.temporary),
      ) &&
      (act.allowed?.() ?? true),
  );
}

const AROUND_MS = 15 * 60_000;

/** The address of a vehicle at an instant: its history, or its panel for those who see no history. */
export function historyAt(id: number, at: number): string {
  const history = vehicleActs().find((act) => act.key === "history");
  if (!history) return `/vehicles/${id}`;
  const [from, to] = [at - AROUND_MS, at + AROUND_MS].map(instantText);
  return withQuery(history.to(id), { from, to, at: instantText(at) });
}

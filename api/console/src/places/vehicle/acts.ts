/** What can be done with a vehicle: the same in its panel, in the menu of a row and of a marker, and by keys. */

import type { Key } from "../../i18n/translate";
import type { IconName } from "../../parts/Icon";
import { routes } from "../../routes";
import { may, session } from "../../state/session";

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
  { key: "settings", label: "vehicle.settings", icon: "settings", to: (id) => `/vehicles/${id}/settings` },
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

/** Everything that can be gone to or done, by name: places, vehicles with what can be done with them, and zones. */

import type { Geofence } from "../../api/types";
import { type Key, t } from "../../i18n/translate";
import type { Choice } from "../../keys/Palette";
import { picked } from "../../parts/Picker";
import { go, location, withQuery } from "../../router";
import { railEntries } from "../../routes";
import { deviceNow, snapshot } from "../../state/fleet";
import { linked, openLinked, setLinked } from "../../state/linkedWindows";
import { may } from "../../state/session";
import { openSharing } from "../share/sharing";
import { vehicleActs } from "../vehicle/acts";
import { openNewestAlarm } from "./alarms";
import { logOut } from "./logOut";
import { actsIn } from "./namedActs";

interface VehicleAct {
  label: string;
  run: (id: number) => void;
}

/** What fits a text. Without one it begins with what can be done with the vehicle that is open. */
export function destinations(
  text: string,
  zones: readonly Geofence[],
  onHelp: () => void,
): readonly Choice[] {
  const vehicles = snapshot().map(({ device }) => device);
  const goals = [
    ...places(onHelp),
    ...vehicles.map((each) => choice(`/vehicles/${each.id}`, each.name, each.uniqueId)),
    ...zones.map(({ id, name }) => choice(`/zones/${id}`, name, t("keys.aZone"))),
  ];
  const found = picked(goals, text);
  const open = deviceNow(Number(location.peek().params.id));
  const shown = location.peek().path.startsWith("/vehicles/") ? open : undefined;
  const acts = actsIn(text, actsOfVehicles(), vehicles, shown).map(({ act, vehicle }) => ({
    id: `${act.label} ${vehicle.id}`,
    name: `${vehicle.name} · ${act.label}`,
    run: () => act.run(vehicle.id),
  }));
  return text.trim() ? [...found, ...acts] : [...acts, ...found];
}

function places(onHelp: () => void): readonly Choice[] {
  const windows = () => (linked.peek() ? setLinked(false) : openLinked(window.location.href));
  return [
    ...railEntries().map((each) => choice(each.to, t(each.label))),
    ...(may("addDevices") ? [choice("/connect", t("fleet.connect"))] : []),
    ...(may("edit") ? [choice("/zones/new", t("zone.new"))] : []),
    choice("/account", t("frame.account")),
    act("keys.alarm", openNewestAlarm),
    act(linked.peek() ? "frame.linked" : "frame.secondWindow", windows),
    act("frame.help", onHelp),
    act("frame.logout", logOut),
  ];
}

function actsOfVehicles(): readonly VehicleAct[] {
  const follow = (id: number) => go(withQuery(`/vehicles/${id}`, { follow: "1" }));
  return [
    ...vehicleActs().map((each) => ({ label: t(each.label), run: (id: number) => go(each.to(id)) })),
    { label: t("keys.follow"), run: follow },
    ...(may("share") ? [{ label: t("share.share"), run: openSharing }] : []),
  ];
}

function choice(to: string, name: string, note?: string): Choice {
  return { id: to, name, ...(note && { note }), run: () => go(to) };
}

function act(label: Key, run: () => void): Choice {
  return { id: label, name: t(label), run };
}

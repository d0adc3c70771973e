import { coordinates } from "../../format/coordinates";
import { t } from "../../i18n/translate";
import { copy } from "../../parts/copy";
import { Menu, type MenuItem } from "../../parts/Menu";
import { go } from "../../router";
import { deviceNow, positionNow } from "../../state/fleet";
import { may, style } from "../../state/session";
import { openSharing } from "../share/sharing";
import { vehicleActs } from "../vehicle/acts";
import { hasPlace } from "./filters";

/** A vehicle and where its menu opens, in pixels of the window. */
export interface MenuAt {
  id: number;
  x: number;
  y: number;
}

/** What can be done with a vehicle, from its row or its marker. */
export function VehicleMenu({ at, onClose }: { at: MenuAt; onClose: () => void }) {
  const device = deviceNow(at.id);
  const position = positionNow(at.id);
  if (!device) return null;
  const items: MenuItem[] = [
    { label: t("vehicle.open"), icon: "car", run: () => go(`/vehicles/${at.id}`) },
    ...vehicleActs().map((act) => ({ label: t(act.label), icon: act.icon, run: () => go(act.to(at.id)) })),
    {
      label: t("vehicle.openWindow"),
      icon: "open",
      run: () => window.open(`/vehicles/${at.id}`, "_blank", "noopener"),
    },
    {
      label: t("vehicle.copyLink"),
      icon: "link",
      run: () => copy(`${window.location.origin}/vehicles/${at.id}`),
    },
  ];
  if (may("share")) items.push({ label: t("share.share"), icon: "share", run: () => openSharing(at.id) });
  if (hasPlace(position)) {
    const text = coordinates(position.latitude, position.longitude, style.value);
    items.push({ label: t("vehicle.copyPlace"), icon: "copy", run: () => copy(text) });
  }
  return <Menu label={t("fleet.menu", { name: device.name })} items={items} at={at} onClose={onClose} />;
}

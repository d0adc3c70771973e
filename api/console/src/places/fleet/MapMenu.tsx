import { coordinates } from "../../format/coordinates";
import { t } from "../../i18n/translate";
import type { Spot } from "../../map/vehicleMap";
import { copy } from "../../parts/copy";
import { Menu, type MenuItem } from "../../parts/Menu";
import { go, location, withQuery } from "../../router";
import { may, style } from "../../state/session";
import { VehicleMenu } from "./VehicleMenu";

/** Longest list of vehicles that stand at one place. */
const MOST_LISTED = 15;

interface MapMenuProps {
  of: Spot;
  onMeasure: () => void;
  onHere: () => void;
  onClose: () => void;
}

/** What can be done with a spot of the map: with its vehicle, one of its vehicles, or the place itself. */
export function MapMenu({ of, onMeasure, onHere, onClose }: MapMenuProps) {
  const at = { x: of.x, y: of.y };
  const [first, second] = of.vehicles;
  if (first && !second) return <VehicleMenu at={{ id: first.id, ...at }} onClose={onClose} />;
  if (first) {
    const items: MenuItem[] = of.vehicles.slice(0, MOST_LISTED).map(({ id, name }) => ({
      label: name,
      icon: "car",
      run: () => openVehicle(id),
    }));
    const label = t("map.vehiclesHere", { count: of.vehicles.length });
    return <Menu label={label} items={items} at={at} onClose={onClose} />;
  }
  const text = coordinates(of.latitude, of.longitude, style.value);
  const items: MenuItem[] = [
    { label: t("map.here"), icon: "pin", run: onHere },
    { label: t("map.measure"), icon: "measure", run: onMeasure },
  ];
  if (may("edit")) {
    const place = `${of.latitude.toFixed(6)},${of.longitude.toFixed(6)}`;
    const at = location.peek().query.get("at");
    const run = () => go(withQuery("/zones/new", { place, at }));
    items.push({ label: t("map.newZone"), icon: "zone", run });
  }
  items.push({ label: t("vehicle.copyPlace"), icon: "copy", run: () => copy(text) });
  return <Menu label={t("map.place")} items={items} at={at} onClose={onClose} />;
}

/** Open a vehicle where the map is now, with the filters as they are. */
export function openVehicle(id: number): void {
  go(withQuery(`/vehicles/${id}`, queryWithout("follow")));
}

/** The parameters of the address but for some. */
export function queryWithout(...names: string[]): URLSearchParams {
  const query = new URLSearchParams(location.peek().query);
  for (const name of names) query.delete(name);
  return query;
}

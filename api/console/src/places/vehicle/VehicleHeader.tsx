import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Tabs } from "../../parts/Tabs";
import { go } from "../../router";
import { device, position } from "../../state/fleet";
import { may } from "../../state/session";
import { vehicleActs } from "./acts";
import { StatusMark } from "./StatusMark";
import "./vehicle.css";

/** Name, status and parts of a vehicle, above each of its places. */
export function VehicleHeader({ id, chosen }: { id: number; chosen: string }) {
  const found = device(id).value;
  const acts = vehicleActs();
  const name = found?.name ?? "";
  const tabs = acts.map(({ key, label, icon, to }) => ({
    key: `${key}`,
    label: t(label),
    icon,
    href: to(id),
  }));
  if (may("administer"))
    tabs.push({
      key: "messages",
      label: t("vehicle.messages"),
      icon: "list",
      href: `/vehicles/${id}/messages`,
    });
  useKeys("vehicle", {
    back: () => go(`/vehicles/${id}`),
    live: () => goTo("live"),
    history: () => goTo("history"),
    command: () => goTo("commands"),
  });
  function goTo(key: string): boolean {
    const act = acts.find((each) => each.key === key);
    if (act) go(act.to(id));
    return act !== undefined;
  }
  return (
    <header class="vehicle-header">
      <Link
        to={`/vehicles/${id}`}
        class="icon-button"
        aria-label={t("vehicle.overview")}
        title={t("vehicle.overview")}
      >
        <Icon name="back" />
      </Link>
      <h1>{name || "\u00a0"}</h1>
      {found && <StatusMark of={found} at={position(id).value} />}
      <Tabs label={t("vehicle.tabs", { name })} chosen={chosen} onChoose={go} tabs={tabs} />
    </header>
  );
}

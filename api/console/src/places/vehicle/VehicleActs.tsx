import { useState } from "preact/hooks";
import type { Device, Position } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Menu, type MenuItem } from "../../parts/Menu";
import { go } from "../../router";
import { may } from "../../state/session";
import { camerasOf } from "../../video/channels";
import { openSharing } from "../share/sharing";
import { type VehicleAct, vehicleActs } from "./acts";
import { useMakeTicket } from "./useMakeTicket";

/** What can be done with a vehicle: the first act, those of every day below it, and the others in a menu. */
export function VehicleActs({ of, at }: { of: Device; at: Position | undefined }) {
  const { id } = of;
  const [menu, setMenu] = useState<{ x: number; y: number } | null>(null);
  const ticket = useMakeTicket(id);
  const acts = vehicleActs();
  const first = camerasOf(of, at).length > 0 ? "live" : "history";
  const settings = acts.find(({ key }) => key === "settings");
  const others: MenuItem[] = [];
  if (may("share")) others.push({ label: t("share.share"), icon: "share", run: () => openSharing(id) });
  if (ticket.open) others.push({ label: t("event.ticket"), icon: "plus", run: ticket.open });
  if (settings) {
    others.push({ label: t(settings.label), icon: settings.icon, run: () => go(settings.to(id)) });
  }
  const link = (act: VehicleAct) => (
    <Link key={act.key} class={`button${act.key === first ? " primary" : ""}`} to={act.to(id)}>
      <Icon name={act.icon} size={18} />
      {t(act.label)}
    </Link>
  );
  const shown = acts.filter((act) => act !== settings);
  return (
    <nav class="vehicle-acts" aria-label={t("vehicle.tabs", { name: of.name })}>
      {shown.filter(({ key }) => key === first).map(link)}
      {shown.filter(({ key }) => key !== first).map(link)}
      {others.length > 0 && (
        <button
          type="button"
          aria-label={`${t("common.more")}: ${of.name}`}
          aria-haspopup="menu"
          aria-expanded={menu !== null}
          onClick={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            setMenu({ x: box.left, y: box.bottom + 4 });
          }}
        >
          <Icon name="more" size={18} />
          {t("common.more")}
        </button>
      )}
      {menu && (
        <Menu
          label={t("fleet.menu", { name: of.name })}
          items={others}
          at={menu}
          onClose={() => setMenu(null)}
        />
      )}
      {ticket.dialog}
    </nav>
  );
}

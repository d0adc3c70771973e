import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Help } from "../../keys/Help";
import { useKeys } from "../../keys/listen";
import { Palette } from "../../keys/Palette";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { go, location } from "../../router";
import { type Route, railEntries, routes } from "../../routes";
import { logout, session } from "../../state/session";
import { SharingDialog } from "../share/SharingDialog";
import { openNewestAlarm } from "./alarms";
import { BuildBar } from "./BuildBar";
import { LineBar } from "./LineBar";
import { Outlet } from "./Outlet";

/** Rail, place and what lies above them. */
export function Frame({ route }: { route: Route | undefined }) {
  const [over, setOver] = useState<"help" | "palette" | null>(null);
  const exists = (path: string) => routes.some((each) => each.pattern === path);
  const goTo = (path: string) => () => (exists(path) ? go(path) : false);
  useKeys("anywhere", {
    help: () => setOver("help"),
    palette: () => setOver("palette"),
    alarm: openNewestAlarm,
    fleet: goTo("/fleet"),
    live: goTo("/live"),
    events: goTo("/events"),
    zones: goTo("/zones"),
    account: goTo("/account"),
    search: () => {
      if (location.value.path !== "/fleet" && location.value.path !== "/") go("/fleet?find=1");
      else return false;
      return true;
    },
  });
  return (
    <div class="frame">
      <a class="skip" href="#place">
        {t("frame.skip")}
      </a>
      <Rail onHelp={() => setOver("help")} />
      <div class="frame-main">
        <div>
          <LineBar />
          <BuildBar />
        </div>
        <main id="place" tabIndex={-1}>
          <Outlet route={route} />
        </main>
      </div>
      {over === "help" && <Help onClose={() => setOver(null)} />}
      <SharingDialog />
      {over === "palette" && <Palette onClose={() => setOver(null)} />}
    </div>
  );
}

function Rail({ onHelp }: { onHelp: () => void }) {
  const { path } = location.value;
  const user = session.value;
  return (
    <nav class="rail" aria-label={t("frame.places")}>
      <Link to="/fleet" class="rail-brand" aria-label="Motorpool">
        <img src="/console/icon.svg" alt="" width={28} height={28} />
      </Link>
      {railEntries().map((entry) => {
        const here =
          entry.under.some((each) => path === each || path.startsWith(`${each}/`)) ||
          (path === "/" && entry.to === "/fleet");
        return (
          <Link key={entry.to} to={entry.to} class="rail-entry" aria-current={here ? "page" : undefined}>
            <Icon name={entry.icon} />
            <span>{t(entry.label)}</span>
            {entry.count && entry.count.of.value > 0 && (
              <span
                class="rail-count"
                role="status"
                aria-label={t(entry.count.label, { count: entry.count.of.value })}
              >
                {entry.count.of.value}
              </span>
            )}
          </Link>
        );
      })}
      <span class="rail-space" />
      <button type="button" class="rail-entry rail-help" onClick={onHelp}>
        <Icon name="help" />
        <span>{t("frame.help")}</span>
      </button>
      <Link to="/account" class="rail-entry" aria-current={path === "/account" ? "page" : undefined}>
        <Icon name="user" />
        <span title={user?.name || user?.email}>{t("frame.account")}</span>
      </Link>
      <button type="button" class="rail-entry" onClick={leave}>
        <Icon name="logout" />
        <span>{t("frame.logout")}</span>
      </button>
    </nav>
  );
}

function leave(): void {
  logout().catch((problem: unknown) => toast(t("frame.noLogout", { reason: sentenceOf(problem) }), "bad"));
}

import { t } from "../../i18n/translate";
import { Toasts } from "../../parts/Toast";
import { type Route, routes } from "../../routes";
import { expired } from "../../state/session";
import { LineBar } from "../frame/LineBar";
import { Outlet } from "../frame/Outlet";
import { Notice } from "./Notice";

/** The page of guests of a share link: what is shared, without the places of users. */
export function GuestFrame({ route }: { route: Route | undefined }) {
  if (expired.value) return <Notice title={t("share.over")} text={t("share.overText")} />;
  const shown = route?.guest ? route : routes.find((each) => each.pattern === "/share");
  return (
    <div class="guest">
      <header class="guest-bar">
        <img src="/console/icon.svg" alt="" width={24} height={24} />
        <strong>Motorpool</strong>
        <span>{t("share.guest")}</span>
      </header>
      <LineBar />
      <main id="place" tabIndex={-1}>
        <Outlet route={shown} />
      </main>
      <Toasts />
    </div>
  );
}

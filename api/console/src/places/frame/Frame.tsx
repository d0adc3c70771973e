import { useEffect, useState } from "preact/hooks";
import { loadTexts, t } from "../../i18n/translate";
import { Help } from "../../keys/Help";
import { useKeys } from "../../keys/listen";
import { Palette } from "../../keys/Palette";
import { go, location } from "../../router";
import { type Route, routes } from "../../routes";
import { deviceIds } from "../../state/fleet";
import { useZones } from "../../state/zones";
import { SharingDialog } from "../share/SharingDialog";
import { ActingBar } from "./ActingBar";
import { AnnouncementBar } from "./AnnouncementBar";
import { openNewestAlarm } from "./alarms";
import { BuildBar } from "./BuildBar";
import { ConditionBar } from "./ConditionBar";
import { destinations } from "./destinations";
import { LineBar } from "./LineBar";
import { Outlet } from "./Outlet";
import { placeChoices } from "./placeChoices";
import { Rail } from "./Rail";

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
    reports: goTo("/reports"),
    tickets: goTo("/tickets"),
    zones: goTo("/zones"),
    account: goTo("/account"),
    search: () => {
      if (location.value.path.startsWith("/tickets")) return go("/tickets/list?find=1");
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
          <ActingBar />
          <LineBar />
          <ConditionBar />
          <AnnouncementBar />
          <BuildBar />
        </div>
        <main id="place" tabIndex={-1}>
          <Outlet route={route} />
        </main>
      </div>
      {over === "help" && <Help onClose={() => setOver(null)} />}
      <SharingDialog />
      {over === "palette" && <Everything onHelp={() => setOver("help")} onClose={() => setOver(null)} />}
    </div>
  );
}

/** All places, vehicles, zones and acts. */
function Everything({ onHelp, onClose }: { onHelp: () => void; onClose: () => void }) {
  const zones = useZones() ?? [];
  useEffect(() => {
    // The palette names places and the sections of the administration.
    for (const part of ["admin", "words"] as const) loadTexts(part).catch(() => {});
  }, []);
  // The vehicles may come later, and be renamed.
  deviceIds.value;
  const find = (text: string) => destinations(text, zones, onHelp);
  return <Palette find={find} findLater={placeChoices} onClose={onClose} />;
}

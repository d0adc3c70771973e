import type { Device } from "../../api/types";
import { t } from "../../i18n/translate";
import { may } from "../../state/session";
import type { Tracker } from "./trackers";

interface ChecksProps {
  device: Device;
  tracker: Tracker | null;
  host: string;
}

/** What is looked at where nothing is heard. */
export function Checks({ device, tracker, host }: ChecksProps) {
  const set = tracker?.url ?? (tracker ? `${host} : ${tracker.port} (${tracker.transport})` : host);
  return (
    <section class="card" aria-labelledby="connect-checks">
      <h2 id="connect-checks">{t("connect.checks")}</h2>
      <ul>
        <li>{t("connect.checkPower")}</li>
        <li>{t("connect.checkSim")}</li>
        <li>{t("connect.checkAddress", { address: set })}</li>
        <li>{t("connect.checkNumber", { number: device.uniqueId })}</li>
      </ul>
      <p>{t(may("administer") ? "connect.seesAll" : "connect.askAdministrator")}</p>
    </section>
  );
}

import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { may } from "../../state/session";

/** Where there is no vehicle yet: the way to connect one. */
export function NoVehicles() {
  return (
    <Empty icon="car" title={t("fleet.empty")} text={t("fleet.emptyText")}>
      {may("addDevices") && (
        <Link class="button primary" to="/connect">
          {t("fleet.connect")}
        </Link>
      )}
    </Empty>
  );
}

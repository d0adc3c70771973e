import { address } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { Icon } from "../../../parts/Icon";
import type { Span } from "../../../time/spans";
import { ends } from "./useHistory";

/** The link that the key `e` follows. */
export const SAVE_ID = "history-save";

/** The span as files, made by the server: route, trips and stops. */
export function Save({ deviceId, span }: { deviceId: number; span: Span }) {
  const query = { deviceId, ...ends(span) };
  const report = (name: string) => address(`/reports/${name}/xlsx`, query);
  const file = (format: string) => address(`/positions/${format}`, query);
  return (
    <nav class="save" aria-label={t("history.save")}>
      <Icon name="download" size={16} />
      <span>Excel</span>
      <a class="button" id={SAVE_ID} href={report("route")} download>
        {t("history.saveRoute")}
      </a>
      <a class="button" href={report("trips")} download>
        {t("history.saveTrips")}
      </a>
      <a class="button" href={report("stops")} download>
        {t("history.saveStops")}
      </a>
      <span>{t("history.saveAs")}</span>
      {["csv", "gpx", "kml"].map((format) => (
        <a key={format} class="button" href={file(format)} download>
          {format.toUpperCase()}
        </a>
      ))}
    </nav>
  );
}

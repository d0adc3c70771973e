import { address } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { Icon } from "../../../parts/Icon";
import { style } from "../../../state/session";
import type { Span } from "../../../time/spans";
import { ends } from "./useHistory";

/** The link that the key `e` follows. */
export const SAVE_ID = "history-save";

/** The span as files, made by the server: a workbook of trips, stops and route, and the route in other formats. */
export function Save({ deviceId, span }: { deviceId: number; span: Span }) {
  const query = { deviceId, ...ends(span), timezone: style.value.zone };
  const file = (format: string) => address(`/positions/${format}`, query);
  return (
    <nav class="save" aria-label={t("history.save")}>
      <Icon name="download" size={16} />
      <a
        class="button"
        id={SAVE_ID}
        href={address("/reports/history/xlsx", query)}
        download
        title={t("history.saveWorkbook")}
      >
        Excel
      </a>
      <span>{t("history.saveAs")}</span>
      {["csv", "gpx", "kml", "kmz"].map((format) => (
        <a key={format} class="button" href={file(format)} download>
          {format.toUpperCase()}
        </a>
      ))}
    </nav>
  );
}

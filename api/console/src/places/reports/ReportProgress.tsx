import { number } from "../../format/units";
import { t } from "../../i18n/translate";
import { deviceIds } from "../../state/fleet";
import { style } from "../../state/session";
import type { Asked } from "./query";
import { MOST_ROWS, type Report } from "./useReport";

/** How far a report has come that takes long, with the way to leave it; and what is missing of one that did not end. */
export function ReportProgress({ asked, report }: { asked: Asked; report: Report }) {
  const { progress, rows, lastDeviceId } = report;
  const count = rows.length;
  if (progress === "cut")
    return (
      <p class="report-note" role="status">
        {t("report.cut", { count: MOST_ROWS })}
      </p>
    );
  if (progress === "stopped")
    return (
      <p class="report-note" role="status">
        {t("report.stopped", { count })}{" "}
        <button type="button" class="quiet" onClick={report.reload}>
          {t("report.readAll")}
        </button>
      </p>
    );
  if (progress !== "reading" || count === 0) return null;
  const share = shareOf(asked, lastDeviceId);
  return (
    <div class="report-note" role="status">
      <span>{t("report.soFar", { count })}</span>
      <progress max={1} {...(share !== null && { value: share })} aria-label={t("report.progress")} />
      {share !== null && <span>{number(100 * share, 0, style.value)} %</span>}
      <button type="button" class="quiet" onClick={report.stop}>
        {t("common.cancel")}
      </button>
    </div>
  );
}

/** Reports come by the numbers of vehicles; null where it is not known which they are. */
function shareOf({ deviceIds: chosen, groupIds }: Asked, last: number | null): number | null {
  if (groupIds.length > 0 || last === null) return null;
  const ids = chosen.length > 0 ? chosen : deviceIds.value;
  return ids.length > 1 ? ids.filter((id) => id <= last).length / ids.length : null;
}

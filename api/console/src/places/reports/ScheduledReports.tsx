import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/call";
import type { Calendar, ScheduledReport } from "../../api/types";
import { hasText, t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { read, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { ReportTabs } from "./ReportTabs";
import { ScheduleDialog } from "./ScheduleDialog";
import { deleteScheduled } from "./scheduled";
import "./reports.css";

/** Reports whose links are mailed when events of a calendar end. */
export default function ScheduledReports() {
  const reports = useLoaded("scheduled reports", (signal) => get<ScheduledReport[]>("/reports", {}, signal));
  const calendars = useLoaded("calendars of reports", () => read<Calendar[]>("/calendars"));
  const [edited, setEdited] = useState<ScheduledReport | "new" | null>(null);
  const [deleted, setDeleted] = useState<ScheduledReport | null>(null);
  const mayEdit = may("edit");
  useEffect(() => {
    document.title = `${t("report.scheduled")} · ${t("report.title")} · Motorpool`;
  }, []);
  const add = mayEdit && (
    <button type="button" class="primary" onClick={() => setEdited("new")}>
      <Icon name="plus" size={16} />
      {t("report.schedule")}
    </button>
  );
  const rows = reports.value ?? [];
  const calendarName = (id: number) => calendars.value?.find((each) => each.id === id)?.name ?? "";
  return (
    <div class="page reports">
      <header class="reports-head">
        <h1>{t("report.scheduled")}</h1>
        {rows.length > 0 && add}
      </header>
      <ReportTabs asked={null} />
      {reports.problem !== null && <Problem problem={reports.problem} onRetry={reports.reload} />}
      {!reports.value && reports.problem === null && <Skeleton label={t("common.loading")} lines={4} />}
      {reports.value?.length === 0 && (
        <Empty icon="history" title={t("report.noneScheduled")} text={t("report.noneScheduledText")}>
          {add}
        </Empty>
      )}
      {rows.length > 0 && (
        <ul class="scheduled">
          {rows.map((report) => (
            <li key={report.id} class="card">
              <div>
                <strong>{nameOf(report)}</strong>
                <span class="faint">
                  {typeName(report.type)} · {calendarName(report.calendarId)}
                </span>
              </div>
              {mayEdit && (
                <span class="button-row">
                  <button
                    type="button"
                    class="icon-button"
                    aria-label={t("report.editScheduled", { name: nameOf(report) })}
                    onClick={() => setEdited(report)}
                  >
                    <Icon name="edit" />
                  </button>
                  <button
                    type="button"
                    class="icon-button"
                    aria-label={t("report.deleteScheduled", { name: nameOf(report) })}
                    onClick={() => setDeleted(report)}
                  >
                    <Icon name="trash" />
                  </button>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {edited && (
        <ScheduleDialog
          stored={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            calendars.reload();
            reports.reload();
          }}
        />
      )}
      {deleted && (
        <Question
          title={t("report.deleteScheduled", { name: nameOf(deleted) })}
          text={t("report.deleteScheduledText")}
          act={t("common.delete")}
          run={async () => {
            await deleteScheduled(deleted.id);
            reports.reload();
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </div>
  );
}

function nameOf(report: ScheduledReport): string {
  return report.description || typeName(report.type);
}

/** The name of a report; what the page does not know is shown as it is. */
export function typeName(type: string): string {
  const key = `report.kind.${type}`;
  return hasText(key) ? t(key) : type;
}

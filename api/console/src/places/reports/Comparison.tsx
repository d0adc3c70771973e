import { useMemo } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Table, type Column as TableColumn } from "../../parts/Table";
import { spanText } from "../../parts/TimeField";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import type { Span } from "../../time/spans";
import { cellText, change, changeText } from "./cells";
import type { Column, Item, Kind } from "./kinds";
import type { Asked } from "./query";
import { type Compared, comparedOf } from "./rows";
import type { Report } from "./useReport";
import { groupName } from "./words";

interface ComparisonProps {
  kind: Kind<Item>;
  asked: Asked;
  report: Report;
  before: Report;
  /** The other span. */
  span: Span;
}

/** Each vehicle or driver in two spans: what it amounts to in both, and the change. */
export function Comparison({ kind, asked, report, before, span }: ComparisonProps) {
  const look = style.value;
  const group = asked.group === "driver" || !kind.groups.includes("device") ? "driver" : "device";
  const rows = useMemo(
    () => comparedOf(kind, report.rows, before.rows, group),
    [kind, report.rows, before.rows, group],
  );
  const columns = useMemo(() => {
    const figures = kind.compared.flatMap((key) => kind.columns.find((column) => column.key === key) ?? []);
    const name: TableColumn<Compared> = {
      key: "name",
      label: t(`report.by.${group}`),
      value: ({ key }) => groupName(group, key, look),
      width: 12,
    };
    return [name, ...figures.flatMap((column) => columnsOf(column, look))];
  }, [kind, group, look]);
  return (
    <section class="report-rows" aria-label={t("report.comparison")}>
      <h2>{t("report.comparedWith", { span: spanText(span.from, span.to, now.value, look) })}</h2>
      {before.problem !== null && <Problem problem={before.problem} onRetry={before.reload} />}
      {before.progress === "reading" && <Skeleton label={t("common.loading")} lines={3} />}
      {rows.length > 0 && (
        <div class="report-table report-compared">
          <Table label={t("report.comparison")} columns={columns} rows={rows} keyOf={({ key }) => key} foot />
        </div>
      )}
    </section>
  );
}

type Look = typeof style.value;

/** A figure in the one span, in the other, and its change. */
function columnsOf(column: Column<Item>, look: Look): readonly TableColumn<Compared>[] {
  const label = t(column.label);
  const total = (items: readonly Item[]) => column.total?.(items) ?? null;
  const all = (rows: readonly Compared[], which: "now" | "before") =>
    total(rows.flatMap((row) => row[which]));
  const text = (value: number | null) => cellText(column.form, value, look);
  const percent = (row: { now: readonly Item[]; before: readonly Item[] }) =>
    change(total(row.now), total(row.before));
  return [
    {
      key: column.key,
      label,
      value: (row) => total(row.now),
      cell: (row) => text(total(row.now)),
      numeric: true,
      sum: (rows) => text(all(rows, "now")),
    },
    {
      key: `${column.key} before`,
      label: t("report.beforeOf", { figure: label }),
      value: (row) => total(row.before),
      cell: (row) => text(total(row.before)),
      numeric: true,
      sum: (rows) => text(all(rows, "before")),
    },
    {
      key: `${column.key} change`,
      label: t("report.changeOf", { figure: label }),
      value: percent,
      cell: (row) => changeText(percent(row), look),
      numeric: true,
      sum: (rows) => changeText(change(all(rows, "now"), all(rows, "before")), look),
    },
  ];
}

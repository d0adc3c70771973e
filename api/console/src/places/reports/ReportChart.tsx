import { useMemo, useState } from "preact/hooks";
import { Bars, Columns } from "../../charts/Bars";
import { t } from "../../i18n/translate";
import { Select } from "../../parts/Field";
import { style } from "../../state/session";
import { cellText } from "./cells";
import type { Group, Item, Kind } from "./kinds";
import { barsOf, type Row } from "./rows";
import { groupName } from "./words";

/** Names that are shown; the others are in the table. */
const MOST_BARS = 15;

interface ReportChartProps {
  kind: Kind<Item>;
  rows: readonly Row[];
  /** How the table is grouped, which the chart follows. */
  group: Group | null;
}

/** What a report amounts to by day, vehicle or driver. */
export function ReportChart({ kind, rows, group }: ReportChartProps) {
  const [wished, setWished] = useState<{ column?: string; group?: Group }>({});
  const look = style.value;
  const charted = kind.charts.flatMap((key) => kind.columns.find((column) => column.key === key) ?? []);
  const column = charted.find(({ key }) => key === wished.column) ?? charted[0];
  const by = [wished.group, group, kind.groups[0]].find((each) => each && kind.groups.includes(each));
  const bars = useMemo(
    () => (column && by ? barsOf(kind, rows, column, by, look.zone) : []),
    [kind, rows, column, by, look.zone],
  );
  if (!column || !by) return null;
  const shown = (by === "day" ? bars : bars.slice(0, MOST_BARS)).map(({ key, value }) => ({
    key,
    name: groupName(by, key, look),
    value,
    text: cellText(column.form, value, look),
  }));
  const label = t("report.chartOf", { figure: t(column.label), group: t(`report.by.${by}`) });
  return (
    <section class="card report-chart" aria-label={t("report.chart")}>
      <div class="report-chart-choice">
        <Select
          label={t("report.figure")}
          value={column.key}
          choices={charted.map((each) => ({ value: each.key, label: t(each.label) }))}
          onChange={(key) => setWished({ ...wished, column: key })}
        />
        <Select
          label={t("report.chartBy")}
          value={by}
          choices={kind.groups.map((each) => ({ value: each, label: t(`report.by.${each}`) }))}
          onChange={(each) => setWished({ ...wished, group: each as Group })}
        />
      </div>
      {by === "day" ? <Columns label={label} bars={shown} /> : <Bars label={label} bars={shown} />}
      {by !== "day" && bars.length > shown.length && (
        <p class="faint">{t("report.moreBars", { count: bars.length - shown.length })}</p>
      )}
    </section>
  );
}

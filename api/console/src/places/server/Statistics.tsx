import { get } from "../../api/call";
import type { Statistics as Day } from "../../api/types";
import { Bars, Columns } from "../../charts/Bars";
import { date } from "../../format/times";
import { number } from "../../format/units";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { TimeField } from "../../parts/TimeField";
import { go, location, withQuery } from "../../router";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { instantText, resolveSpan, type SpanText, spanOfQuery } from "../../time/spans";
import { AdminPlace } from "../admin/AdminPlace";
import { type Chart, chartsOf, protocolsOf } from "./statistics";
import "./statistics.css";

const PLACE = "/admin/statistics";
const USUAL: SpanText = { from: "now-30d/d", to: "now" };
/** Spans to choose beside the field, in days; the longest is a year. */
const SPANS = [7, 30, 90, 365] as const;

/** What the server has done each day. */
export default function Statistics() {
  return (
    <AdminPlace to={PLACE}>
      <Days />
    </AdminPlace>
  );
}

function Days() {
  const span = spanOfQuery(location.value.query, USUAL);
  const resolved = resolveSpan(span, now.peek(), style.value.zone);
  const { value, problem, reload } = useLoaded(`statistics ${span.from} ${span.to}`, async (signal) =>
    resolved
      ? get<Day[]>("/statistics", { from: instantText(resolved.from), to: instantText(resolved.to) }, signal)
      : [],
  );
  const set = ({ from, to }: SpanText) => go(withQuery(PLACE, { from, to }));
  const look = style.value;
  const charts = chartsOf(value ?? [], (at) => monthName(at));
  const protocols = protocolsOf(value ?? []);
  return (
    <>
      <section class="card" aria-label={t("upkeep.span")}>
        <p class="faint">{t("upkeep.statisticsText")}</p>
        <TimeField label={t("upkeep.span")} value={span} now={now.value} style={look} onSpan={set} />
        <fieldset class="chips" aria-label={t("upkeep.spanChoice")}>
          {SPANS.map((days) => {
            const each = { from: `now-${days}d/d`, to: "now" };
            return (
              <button
                key={days}
                type="button"
                class="chip"
                aria-pressed={span.from === each.from && span.to === each.to}
                onClick={() => set(each)}
              >
                {days === 365 ? t("upkeep.lastYear") : t("upkeep.lastDays", { count: days })}
              </button>
            );
          })}
        </fieldset>
      </section>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {value && charts.length === 0 && (
        <Empty icon="chart" title={t("upkeep.noStatistics")} text={t("upkeep.noStatisticsText")} />
      )}
      {charts.length > 0 && (
        <div class="upkeep-charts">
          {charts.map((chart) => (
            <FigureChart key={chart.figure} chart={chart} />
          ))}
          {protocols.length > 0 && (
            <section class="card">
              <Bars
                label={t("upkeep.protocols")}
                bars={protocols.map(([name, value]) => ({
                  key: name,
                  name,
                  value,
                  text: number(value, 0, look),
                }))}
              />
            </section>
          )}
        </div>
      )}
    </>
  );
}

function FigureChart({ chart: { figure, columns, isByMonth, total } }: { chart: Chart }) {
  const look = style.value;
  const name = t(`upkeep.figure.${figure}`);
  const label = isByMonth
    ? t(total === null ? "upkeep.mostOfMonth" : "upkeep.byMonth", { figure: name })
    : t("upkeep.byDay", { figure: name });
  return (
    <section class="card" aria-label={name}>
      <Columns
        label={label}
        bars={columns.map(({ at, value }) => ({
          key: at,
          name: isByMonth ? monthName(at) : date(at, look),
          value,
          text: number(value, 0, look),
        }))}
      />
      {total !== null && <p class="faint">{t("upkeep.sum", { total: number(total, 0, look) })}</p>}
    </section>
  );
}

function monthName(at: number): string {
  const { language, zone } = style.value;
  return new Intl.DateTimeFormat(language, { month: "short", year: "numeric", timeZone: zone }).format(at);
}

import { useEffect, useMemo, useState } from "preact/hooks";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go, location } from "../../router";
import type { PlaceProps } from "../../routes";
import { deviceNow } from "../../state/fleet";
import { style } from "../../state/session";
import { useZones } from "../../state/zones";
import { now } from "../../time/clock";
import { resolveSpan } from "../../time/spans";
import { kindsOf } from "../events/kinds";
import { Comparison } from "./Comparison";
import { Files } from "./Files";
import { goalOf } from "./goals";
import { isKind, kindOf } from "./kinds";
import { type Asked, addressOf, askedOf, missing, otherSpan, requestOf } from "./query";
import { ReportBar } from "./ReportBar";
import { ReportChart } from "./ReportChart";
import { ReportMap } from "./ReportMap";
import { ReportProgress } from "./ReportProgress";
import { ReportTable } from "./ReportTable";
import { ReportTabs } from "./ReportTabs";
import { useReport } from "./useReport";
import { namesFor } from "./words";
import "./reports.css";

/** Reports of vehicles: who, when and which; a table with sums, a chart and a map, all of it in the address. */
export default function Reports({ params }: PlaceProps) {
  const { query } = location.value;
  const name = isKind(params.kind) ? params.kind : "trips";
  const kind = kindOf(name);
  const kinds = kindsOf(query.getAll("type"), query.getAll("alarm"));
  const text = query.toString();
  const asked = useMemo(() => askedOf(name, query, kinds), [name, text]);
  const look = style.value;
  // Words such as `now` mean the moment at which they were asked.
  const at = useMemo(() => now.peek(), [name, text]);
  const span = resolveSpan(asked.span, at, look.zone);
  const request = requestOf(asked, span, look.zone);
  const report = useReport(name, request);
  const other = asked.against && span ? otherSpan(span, asked.against, look.zone) : null;
  const before = useReport(name, other && requestOf(asked, other, look.zone));
  const zones = useZones();
  const names = useMemo(
    () => namesFor(new Map((zones ?? []).map((zone) => [zone.id, zone.name])), look),
    [zones, look],
  );
  const [chosen, setChosen] = useState<number | null>(null);
  useEffect(() => setChosen(null), [name, text]);
  useEffect(() => {
    document.title = `${t(`report.kind.${name}`)} · ${t("report.title")} · Motorpool`;
  }, [name]);
  const set = (change: Partial<Asked>, options?: { replace?: boolean }) =>
    go(addressOf({ ...asked, ...change }), options);
  const lacks = missing(asked);
  const isEmpty = report.progress === "done" && report.rows.length === 0 && report.ways.length === 0;
  const hasMap = report.ways.length > 0 || (kind.where !== undefined && report.rows.length > 0);
  return (
    <div class="page reports">
      <header class="reports-head">
        <h1>{t(`report.kind.${name}`)}</h1>
        <Files kind={kind} request={request} />
      </header>
      {span && name !== "devices" && (
        <p class="print-only">
          {[
            `${dateTime(span.from, look)} – ${dateTime(span.to, look)}`,
            look.zone,
            asked.deviceIds.map((id) => deviceNow(id)?.name ?? `${id}`).join(", "),
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
      )}
      <ReportTabs asked={asked} />
      <ReportBar asked={asked} names={names} at={at} onAsk={set} />
      {lacks === "zones" && (
        <Empty icon="zone" title={t("report.needsZone")} text={t("report.needsZoneText")} />
      )}
      {lacks === "place" && <p role="status">{t("report.needsPlace")}</p>}
      {!lacks && !span && name !== "devices" && <Empty icon="history" title={t("history.badSpan")} />}
      {report.problem !== null && <Problem problem={report.problem} onRetry={report.reload} />}
      <ReportProgress asked={asked} report={report} />
      {request && report.progress === "reading" && report.rows.length === 0 && (
        <Skeleton label={t("common.loading")} lines={8} />
      )}
      {request && isEmpty && <Empty icon="list" title={t("report.empty")} text={t("report.emptyText")} />}
      {asked.against && other && (
        <Comparison kind={kind} asked={asked} report={report} before={before} span={other} />
      )}
      {report.rows.length > 0 && (
        <ReportTable
          key={name}
          kind={kind}
          asked={asked}
          names={names}
          rows={report.rows}
          address={addressOf(asked)}
          chosen={chosen}
          onSort={(sort) => set({ sort }, { replace: true })}
          onOpen={(row) => go(goalOf(kind, row.item, asked))}
        />
      )}
      {report.rows.length > 0 && <ReportChart kind={kind} rows={report.rows} group={asked.group} />}
      {(hasMap || name === "presence") && (
        <ReportMap
          kind={kind}
          rows={report.rows}
          ways={report.ways}
          chosen={chosen}
          onChoose={setChosen}
          place={name === "presence" ? asked.place : null}
          onPlace={(place) => name === "presence" && set({ place })}
        />
      )}
    </div>
  );
}

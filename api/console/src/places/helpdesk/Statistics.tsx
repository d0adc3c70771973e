import type { ComponentChildren } from "preact";
import { get } from "../../api/call";
import type { GroupFigures, TargetFigures, TicketStatistics } from "../../api/types";
import { date } from "../../format/times";
import { number } from "../../format/units";
import { type Key, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Select } from "../../parts/Field";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { TimeField } from "../../parts/TimeField";
import { go, location, withQuery } from "../../router";
import { deviceNow } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { instantText, resolveSpan, type SpanText, spanOfQuery } from "../../time/spans";
import { addressOf, KINDS, NO_FILTERS, type Reference, type TicketFilters } from "../tickets/filters";
import type { SectionProps } from "./CompanyPlace";
import { Lines } from "./Lines";
import { minutesText } from "./minutes";

const DAY_MS = 86_400_000;
const USUAL: SpanText = { from: "now-30d/d", to: "now" };
const PERIODS = ["day", "week", "month"] as const;
type Period = (typeof PERIODS)[number];
/** Kinds of the tickets that are counted; those that are cancelled now are not. */
const COUNTED = KINDS.filter((kind) => kind !== "cancelled");

/** What came and went, and how soon it was answered; figures lead to their tickets where a list can be of just these. */
export function Statistics({ company }: SectionProps) {
  const { query, path } = location.value;
  const span = spanOfQuery(query, USUAL);
  const period = PERIODS.find((each) => each === query.get("period")) ?? "day";
  const resolved = resolveSpan(span, now.peek(), style.value.zone);
  const asked = resolved && {
    companyId: company.id,
    from: instantText(resolved.from),
    to: instantText(resolved.to),
    period,
    timezone: style.value.zone,
  };
  const { value, problem, reload } = useLoaded(
    `ticket statistics ${JSON.stringify({ span, period, company: company.id })}`,
    (signal) => get<TicketStatistics>("/tickets/stats", asked ?? { companyId: company.id }, signal),
  );
  const set = (change: { from?: string; to?: string; period?: string }) =>
    go(withQuery(path, { ...span, period, ...change }));
  return (
    <>
      <section class="card" aria-label={t("helpdesk.statistics")}>
        <h2>{t("helpdesk.statistics")}</h2>
        <div class="helpdesk-span">
          <TimeField
            label={t("helpdesk.span")}
            value={span}
            now={now.value}
            style={style.value}
            onSpan={(chosen) => set(chosen)}
          />
          <Select
            label={t("helpdesk.period")}
            value={period}
            choices={PERIODS.map((each) => ({ value: each, label: t(`helpdesk.period.${each}`) }))}
            onChange={(chosen) => set({ period: chosen as Period })}
          />
        </div>
      </section>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {value && value.volume.created + value.backlog.total === 0 && (
        <Empty icon="headset" title={t("helpdesk.noTickets")} text={t("helpdesk.noTicketsText")}>
          <Link class="button" to={`/helpdesk/${company.id}/rules`}>
            {t("helpdesk.rules")}
          </Link>
        </Empty>
      )}
      {value && <Figures found={value} companyId={company.id} />}
    </>
  );
}

function Figures({ found, companyId }: { found: TicketStatistics; companyId: number }) {
  const { volume, backlog, breaches } = found;
  const of = (filters: Partial<TicketFilters>) => addressOf({ ...NO_FILTERS, companyId, ...filters });
  const to = (name: Reference, id: number) => ({ references: { [name]: [id] } });
  const createdIn = (span: { from: string; to: string }, filters: Partial<TicketFilters> = {}) =>
    of({ kinds: COUNTED, ...span, ...filters });
  const span = { from: found.from, to: found.to };
  const look = style.value;
  const at = found.periods.map(({ start }) => Date.parse(start));
  return (
    <>
      <Card title={t("helpdesk.now")}>
        <dl class="helpdesk-figures">
          <Figure label={t("helpdesk.backlog")} value={backlog.total} to={of({})} />
          <Figure label={t("helpdesk.overdue")} value={backlog.overdue} to={of({ overdue: true })} isBad />
          <Figure label={t("helpdesk.dueSoon")} value={backlog.dueSoon} to={of({ dueWithin: 60 })} />
          <Figure label={t("helpdesk.unassigned")} value={backlog.unassigned} to={of(to("assigneeId", 0))} />
          <Figure label={t("helpdesk.waiting")} value={backlog.paused} to={of({ kinds: ["pending"] })} />
          <Figure label={t("helpdesk.orphaned")} value={backlog.orphaned} isBad />
        </dl>
        <Counts
          label={t("helpdesk.byStatus")}
          rows={backlog.byStatus.map(({ id, name, count }) => [name ?? "", count, of(to("statusId", id))])}
        />
        <Counts
          label={t("helpdesk.byAssignee")}
          rows={backlog.byAssignee.map(({ id, name, count }) => [
            name ?? "",
            count,
            of(to("assigneeId", id)),
          ])}
        />
        <Counts
          label={t("helpdesk.byCategory")}
          rows={backlog.byCategory.map(({ id, name, count }) => [
            name ?? "",
            count,
            of({ ...to("categoryId", id), includeChildren: false }),
          ])}
        />
        <Counts
          label={t("helpdesk.byAge")}
          rows={backlog.ageing.map(({ bucket, count }) => [
            t("helpdesk.daysOld", { days: bucket }),
            count,
            of(ofAge(bucket, Date.parse(found.asOf))),
          ])}
        />
      </Card>
      <Card title={t("helpdesk.inSpan")}>
        <dl class="helpdesk-figures">
          <Figure label={t("helpdesk.created")} value={volume.created} to={createdIn(span)} />
          <Figure label={t("helpdesk.resolved")} value={volume.resolved} />
          <Figure label={t("helpdesk.reopened")} value={volume.reopened} />
          <Figure label={t("helpdesk.repeat")} value={volume.repeat} />
          <Figure label={t("helpdesk.breaches")} value={breaches.tickets} isBad />
          <Figure label={t("helpdesk.escalations")} value={found.escalations} />
        </dl>
        <Targets
          rows={[
            [t("helpdesk.firstResponse"), found.firstResponse],
            [t("helpdesk.resolution"), found.resolution],
          ]}
        />
        {at.length > 1 && (
          <div class="helpdesk-lines">
            <Lines label={t("helpdesk.created")} at={at} values={found.periods.map((each) => each.created)} />
            <Lines
              label={t("helpdesk.resolved")}
              at={at}
              values={found.periods.map((each) => each.resolved)}
            />
            <Lines
              label={t("helpdesk.backlogAtEnd")}
              at={at}
              values={found.periods.map((each) => each.backlogAtEnd)}
            />
          </div>
        )}
        <details>
          <summary>{t("helpdesk.asTable")}</summary>
          <table class="helpdesk-table">
            <thead>
              <tr>
                <th scope="col">{t("helpdesk.period")}</th>
                <th scope="col">{t("helpdesk.created")}</th>
                <th scope="col">{t("helpdesk.resolved")}</th>
                <th scope="col">{t("helpdesk.backlogAtEnd")}</th>
              </tr>
            </thead>
            <tbody>
              {found.periods.map((each) => (
                <tr key={each.start}>
                  <th scope="row">{date(Date.parse(each.start), look)}</th>
                  <td>
                    <Link to={createdIn({ from: each.start, to: each.end })}>
                      {number(each.created, 0, look)}
                    </Link>
                  </td>
                  <td>{number(each.resolved, 0, look)}</td>
                  <td>{number(each.backlogAtEnd, 0, look)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </Card>
      <Groups
        title={t("helpdesk.byPriority")}
        groups={found.byPriority}
        toOf={(id) => createdIn(span, to("priorityId", id))}
      />
      <Groups
        title={t("helpdesk.byTeam")}
        groups={found.byTeam}
        toOf={(id) => createdIn(span, to("teamId", id))}
      />
      {found.byZone.some(({ zone }) => zone !== null) && (
        <Card title={t("helpdesk.byZone")}>
          <Counts
            label={t("helpdesk.created")}
            rows={found.byZone.map(({ zone, created }) => [
              zone ?? t("common.none"),
              created,
              zone === null ? null : createdIn(span, { zones: [zone] }),
            ])}
          />
        </Card>
      )}
      {found.byDevice.length > 0 && (
        <Card title={t("helpdesk.byVehicle")}>
          <Counts
            label={t("helpdesk.created")}
            rows={found.byDevice.map(({ deviceId, created }) => [
              deviceNow(deviceId)?.name ?? t("helpdesk.vehicleNumber", { id: deviceId }),
              created,
              createdIn(span, to("deviceId", deviceId)),
            ])}
          />
        </Card>
      )}
    </>
  );
}

/** When tickets of an age such as `3-7`, in days, were created. */
function ofAge(bucket: string, asOf: number): { from: string; to: string } {
  const [youngest = 0, oldest] = (bucket.match(/\d+/g) ?? []).map(Number);
  const ago = (days: number) => instantText(asOf - days * DAY_MS);
  return { from: oldest === undefined ? "" : ago(oldest), to: youngest === 0 ? "" : ago(youngest) };
}

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface FigureProps {
  label: string;
  value: number;
  /** The list of what is counted, where there is one. */
  to?: string;
  /** Whether it should be 0. */
  isBad?: boolean;
}

function Figure({ label, value, to, isBad = false }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class={isBad && value > 0 ? "bad" : ""}>
        <Linked to={to ?? null}>{number(value, 0, style.value)}</Linked>
      </dd>
    </div>
  );
}

/** A figure as a link, where it leads somewhere. */
function Linked({ to, children }: { to: string | null; children: string }) {
  return to === null ? children : <Link to={to}>{children}</Link>;
}

type CountRow = readonly [name: string, count: number, to: string | null];

/** Names with their counts as bars. */
function Counts({ label, rows }: { label: string; rows: readonly CountRow[] }) {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  if (rows.length === 0) return null;
  return (
    <table class="helpdesk-table helpdesk-counts">
      <caption>{label}</caption>
      <tbody>
        {rows.map(([name, count, to]) => (
          <tr key={`${name} ${to}`}>
            <th scope="row">{name || t("common.none")}</th>
            <td>
              <Bar share={count / most} />
            </td>
            <td>
              <Linked to={to}>{number(count, 0, style.value)}</Linked>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bar({ share, isBad = false }: { share: number; isBad?: boolean }) {
  return (
    <span class={`helpdesk-bar${isBad ? " bad" : ""}`} aria-hidden="true">
      <span style={{ width: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

/** Below this attainment, in percent, the bar warns. */
const GOOD_ATTAINMENT = 90;

/** How well the targets were met. */
function Targets({ rows }: { rows: readonly (readonly [string, TargetFigures])[] }) {
  const heads: readonly Key[] = [
    "helpdesk.attainment",
    "helpdesk.breached",
    "helpdesk.median",
    "helpdesk.p90",
  ];
  return (
    <div class="helpdesk-scroll">
      <table class="helpdesk-table">
        <thead>
          <tr>
            <th scope="col">{t("helpdesk.target")}</th>
            {heads.map((key) => (
              <th key={key} scope="col">
                {t(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, figures]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Attainment figures={figures} />
              </td>
              <td>{number(figures.breached, 0, style.value)}</td>
              <td>{spanText(figures.medianMinutes)}</td>
              <td>{spanText(figures.p90Minutes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Attainment({ figures: { attainment } }: { figures: TargetFigures }) {
  if (attainment === null) return <>–</>;
  return (
    <span class="helpdesk-attainment">
      <Bar share={attainment / 100} isBad={attainment < GOOD_ATTAINMENT} />
      {number(attainment, 0, style.value)} %
    </span>
  );
}

function spanText(minutes: number | null): string {
  return minutes === null ? "–" : minutesText(minutes, style.value.language);
}

interface GroupsProps {
  title: string;
  groups: readonly GroupFigures[];
  toOf: (id: number) => string;
}

/** Figures of each priority or team. */
function Groups({ title, groups, toOf }: GroupsProps) {
  const most = Math.max(1, ...groups.map(({ created }) => created));
  if (groups.length === 0) return null;
  return (
    <Card title={title}>
      <div class="helpdesk-scroll">
        <table class="helpdesk-table">
          <thead>
            <tr>
              <th scope="col">{t("record.name")}</th>
              <th scope="col" colSpan={2}>
                {t("helpdesk.created")}
              </th>
              <th scope="col">{t("helpdesk.resolved")}</th>
              <th scope="col">{t("helpdesk.firstResponse")}</th>
              <th scope="col">{t("helpdesk.resolution")}</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((each) => (
              <tr key={each.id}>
                <th scope="row">{each.name ?? t("common.none")}</th>
                <td>
                  <Bar share={each.created / most} />
                </td>
                <td>
                  <Link to={toOf(each.id)}>{number(each.created, 0, style.value)}</Link>
                </td>
                <td>{number(each.resolved, 0, style.value)}</td>
                <td>
                  <Attainment figures={each.firstResponse} />
                </td>
                <td>
                  <Attainment figures={each.resolution} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

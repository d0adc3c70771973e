import { get } from "../../api/call";
import type { TicketStatistics } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { useTicketChanges } from "./changes";
import { type Desk, myId } from "./company";
import { DeskFrame } from "./DeskFrame";
import { addressOf, NO_FILTERS, type TicketFilters } from "./filters";
import { USUAL_COLUMNS } from "./TicketRow";
import { TicketRows } from "./TicketRows";
import { distinct, type TicketList, useTicketList } from "./useTicketList";

/** The begin of the helpdesk: what is urgent, as numbers, and what waits for the reader. */
export default function TicketStart() {
  return <DeskFrame tab="start">{(desk) => <Start key={desk.company.id} desk={desk} />}</DeskFrame>;
}

function Start({ desk }: { desk: Desk }) {
  const list = useUrgentTickets(desk);
  const title = t(desk.handles ? "tickets.mineAndUnassigned" : "tickets.reportedByMe");
  return (
    <>
      {desk.handles && <Counts desk={desk} />}
      <h2 class="desk-title">{title}</h2>
      {list.problem !== null && <Problem problem={list.problem} onRetry={list.reload} />}
      {!list.rows && list.problem === null && <Skeleton label={t("common.loading")} lines={6} />}
      {list.rows?.length === 0 && (
        <Empty icon="check" title={t("tickets.nothingWaits")} text={t("tickets.nothingWaitsText")}>
          <Link to={addressOf(NO_FILTERS)} class="button">
            {t("tickets.showAll")}
          </Link>
        </Empty>
      )}
      {list.rows && list.rows.length > 0 && (
        <TicketRows
          desk={desk}
          label={title}
          rows={list.rows}
          columns={USUAL_COLUMNS}
          selects={false}
          onEnd={list.readMore}
          onDone={list.replace}
        />
      )}
    </>
  );
}

/** The tickets that an agent works on or may take, or those that a reader reported: what is late, then what is due next. */
function useUrgentTickets(desk: Desk): Omit<TicketList, "total"> {
  const companyId = desk.company.id;
  const me = myId();
  const whose = desk.handles ? { assigneeId: [me, 0] } : { reporterId: [me] };
  const of = (overdue: boolean) => ({
    companyId,
    ...whose,
    open: true,
    overdue,
    // What is late may have nothing left that comes due.
    sort: overdue ? "resolutionDue" : "nextDue",
  });
  const late = useTicketList(companyId, `late ${companyId} ${desk.handles}`, () => of(true));
  const others = useTicketList(companyId, `not late ${companyId} ${desk.handles}`, () => of(false));
  const isAllLate = late.rows !== undefined && late.rows.length >= late.total;
  // One that becomes late may be in both for a moment.
  const rows = late.rows && others.rows && [...late.rows, ...(isAllLate ? others.rows : [])];
  return {
    rows: rows && distinct(rows),
    problem: late.problem ?? others.problem,
    readMore: isAllLate ? others.readMore : late.readMore,
    reload: () => {
      late.reload();
      others.reload();
    },
    replace: (ticket) => {
      late.replace(ticket);
      others.replace(ticket);
    },
  };
}

/** The statistics are of the present; the span for the figures that are not shown is as short as can be. */
const SPAN_MS = 60_000;

/** Four numbers, each a link to its tickets. */
function Counts({ desk }: { desk: Desk }) {
  const companyId = desk.company.id;
  const stats = useLoaded(`ticket counts ${companyId}`, (signal) =>
    get<TicketStatistics>(
      "/tickets/stats",
      { companyId, from: new Date(Date.now() - SPAN_MS).toISOString() },
      signal,
    ),
  );
  useTicketChanges(companyId, stats.reload);
  const me = myId();
  const backlog = stats.value?.backlog;
  const counts: readonly [string, number | undefined, Partial<TicketFilters>, string][] = [
    [
      t("tickets.count.mine"),
      backlog && mineOf(backlog.byAssignee, me),
      { references: { assigneeId: [me] } },
      "",
    ],
    [t("tickets.count.overdue"), backlog?.overdue, { overdue: true }, "late"],
    [t("tickets.count.dueSoon"), backlog?.dueSoon, { dueWithin: 60 }, "soon"],
    [t("tickets.count.unassigned"), backlog?.unassigned, { references: { assigneeId: [0] } }, ""],
  ];
  if (stats.problem !== null && !stats.value)
    return <Problem problem={stats.problem} onRetry={stats.reload} />;
  return (
    <ul class="desk-counts" aria-label={t("tickets.counts")}>
      {counts.map(([label, count, filters, tone]) => (
        <li key={label}>
          <Link to={addressOf({ ...NO_FILTERS, ...filters })} class={count ? tone : ""}>
            <strong>{count?.toLocaleString() ?? "…"}</strong>
            <span>{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function mineOf(rows: readonly { id: number; count: number }[], me: number): number {
  return rows.find(({ id }) => id === me)?.count ?? 0;
}

import { useState } from "preact/hooks";
import { get, Problem as Refused } from "../../api/call";
import type { Calendar } from "../../api/types";
import { blocksOf, decoded } from "../../calendars/blocks";
import { CalendarDialog } from "../../calendars/CalendarDialog";
import { DaysPicture } from "../../calendars/DaysPicture";
import { type Window as Open, stateAt } from "../../calendars/windows";
import { zoneOf } from "../../calendars/zoneOf";
import { dateTime, dayMonth } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { deleteRecord } from "../../records/records";
import { go, location, withQuery } from "../../router";
import { useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { startOfDay, startOfMonth, startOfWeek, wallOf } from "../../time/zones";
import { CommandTabs } from "../sent/CommandTabs";
import { usesOf, useWord } from "./uses";
import "./schedules.css";

/** One calendar: a week or month of its windows, and what uses it. */
export default function CalendarPage({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const { value, problem, reload } = useLoaded(`calendar ${id}`, (signal) =>
    get<Calendar>(`/calendars/${id}`, undefined, signal),
  );
  const missing = problem instanceof Refused && problem.status === 404;
  return (
    <div class="page schedules">
      {value ? (
        <OneCalendar key={id} calendar={value} reload={reload} />
      ) : (
        <>
          <CommandTabs chosen="calendars" title={t("calendar.title")} />
          {missing && <Empty icon="history" title={t("calendar.missing")} />}
          {!missing && problem !== null && <Problem problem={problem} onRetry={reload} />}
          {problem === null && <Skeleton label={t("common.loading")} lines={6} />}
        </>
      )}
    </div>
  );
}

function OneCalendar({ calendar, reload }: { calendar: Calendar; reload: () => void }) {
  const { id, name, data } = calendar;
  const [opened, setOpened] = useState<"edit" | "delete" | null>(null);
  const zone = zoneOf(calendar);
  const isText = blocksOf(decoded(data)) === null;
  return (
    <>
      <CommandTabs chosen="calendars" title={name}>
        {may("edit") && (
          <div class="button-row">
            <button type="button" onClick={() => setOpened("edit")}>
              <Icon name="edit" size={16} />
              {t("calendar.edit")}
            </button>
            <button type="button" class="dangerous" onClick={() => setOpened("delete")}>
              <Icon name="trash" size={16} />
              {t("common.delete")}
            </button>
          </div>
        )}
      </CommandTabs>
      {isText && <p>{t("calendar.saysMore")}</p>}
      <Picture calendar={calendar} zone={zone} />
      <Uses id={id} />
      {opened === "edit" && (
        <CalendarDialog
          calendar={calendar}
          onClose={() => setOpened(null)}
          onSaved={() => {
            setOpened(null);
            reload();
          }}
        />
      )}
      {opened === "delete" && (
        <Question
          title={t("record.deleteTitle", { name })}
          text={t("calendar.deleteText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord("/calendars", id);
            go("/calendars");
          }}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

/** `2026-10-19`, the day of a zone. */
function dayText(at: number, zone: string): string {
  const { year, month, day } = wallOf(at, zone);
  return `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}

function Picture({ calendar, zone }: { calendar: Calendar; zone: string }) {
  const { query } = location.value;
  const isMonth = query.get("view") === "month";
  const asked = Date.parse(`${query.get("from") ?? ""}T12:00:00Z`);
  const about = Number.isNaN(asked) ? now.value : asked;
  const begin = (steps: number) =>
    isMonth ? startOfMonth(about, zone, steps) : startOfWeek(about, zone, steps);
  const first = begin(0);
  const end = begin(1);
  let days = 0;
  while (startOfDay(first, zone, days) < end) days += 1;
  const show = (change: { view?: string | null; from?: string | null }) =>
    go(
      withQuery(`/calendars/${calendar.id}`, {
        view: isMonth ? "month" : null,
        from: query.get("from"),
        ...change,
      }),
    );
  const look = { ...style.value, zone };
  const last = startOfDay(first, zone, days - 1);
  const title = isMonth
    ? new Intl.DateTimeFormat(look.language, { month: "long", year: "numeric", timeZone: zone }).format(first)
    : `${dayMonth(first, look)} – ${dayMonth(last, look)} ${wallOf(last, zone).year}`;
  return (
    <section class="card" aria-label={t("calendar.windows")}>
      <header class="page-head">
        <h2>{t("calendar.windows")}</h2>
        <div class="calendar-views">
          <button
            type="button"
            class="icon-button"
            aria-label={t("calendar.before")}
            title={t("calendar.before")}
            onClick={() => show({ from: dayText(begin(-1), zone) })}
          >
            <Icon name="back" size={16} />
          </button>
          <strong role="status">{title}</strong>
          <button
            type="button"
            class="icon-button"
            aria-label={t("calendar.after")}
            title={t("calendar.after")}
            onClick={() => show({ from: dayText(end, zone) })}
          >
            <Icon name="next" size={16} />
          </button>
          <button type="button" class="quiet" onClick={() => show({ from: null })}>
            {t("time.today")}
          </button>
          <fieldset class="chips" aria-label={t("calendar.view")}>
            {([false, true] as const).map((month) => (
              <button
                key={String(month)}
                type="button"
                class="chip"
                aria-pressed={isMonth === month}
                onClick={() => show({ view: month ? "month" : null })}
              >
                {t(month ? "calendar.month" : "calendar.week")}
              </button>
            ))}
          </fieldset>
        </div>
      </header>
      <DaysPicture label={title} calendar={calendar} zone={zone} first={first} days={days} dated>
        {(windows) => <State windows={windows} first={first} end={end} zone={zone} />}
      </DaysPicture>
    </section>
  );
}

interface StateProps {
  windows: readonly Open[];
  first: number;
  end: number;
  zone: string;
}

/** Whether it is open now, where the days shown hold this moment. */
function State({ windows, first, end, zone }: StateProps) {
  const at = now.value;
  if (at < first || at >= end) return null;
  const { open, until } = stateAt(windows, at);
  const known = until !== null && until < end;
  const when = known ? dateTime(until, { ...style.value, zone }) : "";
  return (
    <p role="status">
      {open
        ? t(known ? "calendar.openUntil" : "calendar.openNow", { at: when })
        : t(known ? "calendar.closedUntil" : "calendar.closedNow", { at: when })}
    </p>
  );
}

function Uses({ id }: { id: number }) {
  const { value } = useLoaded(`uses ${id}`, () => usesOf(id));
  return (
    <section class="card" aria-label={t("calendar.uses")}>
      <h2>{t("calendar.uses")}</h2>
      {!value && <Skeleton label={t("common.loading")} lines={2} />}
      {value?.length === 0 && <p>{t("calendar.unused")}</p>}
      <ul class="record-rows">
        {value?.map(({ kind, name, to }, index) => (
          <li key={index}>
            <div>
              <small>{useWord(kind)}</small> <Link to={to}>{name}</Link>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

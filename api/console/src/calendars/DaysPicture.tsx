import type { ComponentChildren } from "preact";
import type { Calendar } from "../api/types";
import { dateTime, dayMonth } from "../format/times";
import { t } from "../i18n/translate";
import { Skeleton } from "../parts/Late";
import { Problem } from "../parts/Problem";
import { useLoaded } from "../state/responseCache";
import { style } from "../state/session";
import { now } from "../time/clock";
import { startOfDay, startOfWeek } from "../time/zones";
import { blocksOf, decoded } from "./blocks";
import "./calendars.css";
import { barsText, clockChange, type DayBars, dayBars, readWindows, shortGaps, type Window } from "./windows";

const HOURS = [0, 6, 12, 18, 24];

interface DaysPictureProps {
  label: string;
  /** Null: every minute counts. */
  calendar: Pick<Calendar, "data" | "attributes"> | null;
  /** The zone that days are cut in. */
  zone: string;
  /** The first day is the one that holds this instant. */
  first: number;
  days: number;
  /** Without dates: a week as it always is. */
  dated?: boolean;
  /** What is beside the picture of these windows. */
  children?: (windows: readonly Window[]) => ComponentChildren;
}

/** Days of a calendar, with the windows as the server works them out. */
export function DaysPicture(props: DaysPictureProps) {
  const { label, calendar, zone, first, days, dated = false, children } = props;
  const span = { from: startOfDay(first, zone), to: startOfDay(first, zone, days) };
  const key = `windows ${zone} ${span.from} ${days} ${calendar?.data} ${calendar?.attributes.timezone}`;
  const { value, problem, reload } = useLoaded(key, (signal) =>
    calendar === null ? Promise.resolve([span]) : readWindows(calendar, span, signal),
  );
  if (problem !== null) return <Problem problem={problem} onRetry={reload} />;
  if (value === undefined) return <Skeleton label={t("common.loading")} lines={Math.min(days, 7)} />;
  const dates = new Set(
    dated && calendar ? blocksOf(decoded(calendar.data))?.exceptions.map(({ date }) => date) : [],
  );
  const gaps = shortGaps(value);
  const today = startOfDay(now.value, zone);
  return (
    <>
      <figure class={`days-picture${dated ? " dated" : ""}`} aria-label={label}>
        <ul>
          {dayBars(value, first, days, zone).map((day) => (
            <Day
              key={day.at}
              day={day}
              zone={zone}
              dated={dated}
              isToday={dated && day.at === today}
              isException={dates.has(dateOf(day.at, zone))}
            />
          ))}
        </ul>
        <div class="days-hours" aria-hidden="true">
          {HOURS.map((hour) => (
            <span key={hour} style={{ left: `${(hour / 24) * 100}%` }}>
              {hour}
            </span>
          ))}
        </div>
        <figcaption>
          {t("common.zone", { zone: zone.replace(/_/g, " ") })}
          {gaps[0] && (
            <strong>
              {" · "}
              {t("calendar.shortGap", { at: dateTime(gaps[0].from, { ...style.value, zone }) })}
            </strong>
          )}
        </figcaption>
      </figure>
      {children?.(value)}
    </>
  );
}

interface DayProps {
  day: DayBars;
  zone: string;
  dated: boolean;
  isToday: boolean;
  isException: boolean;
}

function Day({ day, zone, dated, isToday, isException }: DayProps) {
  const { at, hours, bars } = day;
  const weekday = (look: "short" | "long") =>
    new Intl.DateTimeFormat(style.value.language, { weekday: look, timeZone: zone }).format(at);
  const date = dayMonth(at, { ...style.value, zone });
  const minutes = clockChange(day, zone);
  const notes = [
    minutes !== 0 && dated && t("calendar.hoursOfDay", { hours }),
    isException && t("calendar.isException"),
  ].filter(Boolean);
  return (
    <li class={isToday ? "today" : ""}>
      <span aria-hidden="true">{dated ? `${weekday("short")} ${date}` : weekday("short")}</span>
      <span class="hidden">
        {[
          dated ? `${weekday("long")} ${date}` : weekday("long"),
          barsText(bars) || t("calendar.closed"),
          ...notes,
        ].join(", ")}
      </span>
      <span class="days-track" title={barsText(bars) || t("calendar.closed")} aria-hidden="true">
        {bars.map(({ from, to }) => (
          <span
            key={from}
            class="days-bar"
            style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          />
        ))}
      </span>
      {dated && (
        <small aria-hidden="true">{[barsText(bars) || t("calendar.closed"), ...notes].join(" · ")}</small>
      )}
    </li>
  );
}

function dateOf(at: number, zone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(at);
}

interface WeekPictureProps {
  label: string;
  calendar: Pick<Calendar, "data" | "attributes"> | null;
  zone: string;
}

/** This week of a calendar. */
export function WeekPicture({ label, calendar, zone }: WeekPictureProps) {
  return (
    <DaysPicture
      label={label}
      calendar={calendar}
      zone={zone}
      first={startOfWeek(now.peek(), zone)}
      days={7}
    />
  );
}

import { useState } from "preact/hooks";
import type { Calendar, Group, ScheduledCommand } from "../../api/types";
import { type Window as Open, readWindows } from "../../calendars/windows";
import { dateTime, shortTime } from "../../format/times";
import { compareNames, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go } from "../../router";
import { changed } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { CommandTabs } from "../sent/CommandTabs";
import { edgesOf, nextFiring } from "./edges";
import { useCalendars, useGroups, useSchedules, vehiclesOf } from "./records";
import { ScheduleDialog } from "./ScheduleDialog";
import "./schedules.css";

const DAYS = 14;
const DAY_MS = 86_400_000;
/** Calendars whose next edges are asked for; a list of more shows them on the pages of its schedules. */
const MOST_CALENDARS = 40;

/** All schedules: whether they are active, when they fire next, and for how many vehicles. */
export default function Schedules() {
  const { value, problem, reload } = useSchedules();
  const calendars = useCalendars();
  const groups = useGroups();
  const [making, setMaking] = useState(false);
  void changed.value;
  const sorted = [...(value ?? [])].sort((one, other) => compareNames(one.name, other.name));
  const windows = useWindows(sorted, calendars.value);
  const add = may("edit") && (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      <Icon name="plus" size={16} />
      {t("schedule.new")}
    </button>
  );
  return (
    <div class="page schedules">
      <CommandTabs chosen="schedules" title={t("schedule.title")}>
        {sorted.length > 0 && add}
      </CommandTabs>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={5} />}
      {value?.length === 0 && (
        <Empty icon="history" title={t("schedule.none")} text={t("schedule.noneText")}>
          {add}
        </Empty>
      )}
      {sorted.length > 0 && (
        <section class="card">
          <ul class="record-rows" aria-label={t("schedule.title")}>
            {sorted.map((schedule) => (
              <Row
                key={schedule.id}
                schedule={schedule}
                calendar={calendars.value?.find(({ id }) => id === schedule.calendarId)}
                groups={groups}
                windows={windows}
              />
            ))}
          </ul>
        </section>
      )}
      {making && (
        <ScheduleDialog
          schedule={null}
          onClose={() => setMaking(false)}
          onSaved={(saved) => go(`/schedules/${saved.id}`)}
        />
      )}
    </div>
  );
}

interface Asked {
  span: Open;
  of: ReadonlyMap<number, readonly Open[]>;
}

/** The windows of the calendars of schedules in the next two weeks. */
function useWindows(
  schedules: readonly ScheduledCommand[],
  calendars: readonly Calendar[] | undefined,
): Asked | undefined {
  const used = new Set(schedules.map(({ calendarId }) => calendarId));
  const asked = (calendars ?? []).filter(({ id }) => used.has(id)).slice(0, MOST_CALENDARS);
  const key = asked.map(({ id, data }) => `${id} ${data.length} ${data.slice(-40)}`).join(" ");
  return useLoaded(`next windows ${key}`, async (signal) => {
    const from = now.peek();
    const span = { from, to: from + DAYS * DAY_MS };
    const found = new Map<number, readonly Open[]>();
    // The server reads one calendar of a user at a time.
    for (const each of asked) {
      const windows = await readWindows(each, span, signal).catch(() => null);
      if (windows) found.set(each.id, windows);
    }
    return { span, of: found };
  }).value;
}

interface RowProps {
  schedule: ScheduledCommand;
  calendar: Calendar | undefined;
  groups: readonly Group[];
  windows: Asked | undefined;
}

function Row({ schedule, calendar, groups, windows }: RowProps) {
  const { id, name, active, description, deviceIds, groupIds, lastRun } = schedule;
  const count = vehiclesOf(deviceIds, groupIds, groups).length;
  const open = windows?.of.get(schedule.calendarId);
  const next = windows && open && nextFiring(schedule, edgesOf(open, windows.span), now.value);
  return (
    <li class={active ? "" : "archived"}>
      <div>
        <strong>
          <Link to={`/schedules/${id}`}>{name}</Link>
        </strong>
        {!active && <small>{t("schedule.off")}</small>}
        {description && <p>{description}</p>}
        <p>
          {[
            calendar?.name ?? t("calendar.hidden", { id: schedule.calendarId }),
            t("schedule.vehicles", { count }),
          ].join(" · ")}
        </p>
        <p class="schedule-when">
          {[
            next && t(`schedule.next.${next.phase}`, { at: dateTime(next.at, style.value) }),
            active && next === null && t("schedule.noneSoon", { days: DAYS }),
            lastRun
              ? t("schedule.lastRun", { at: shortTime(Date.parse(lastRun), now.value, style.value) })
              : t("schedule.neverRun"),
          ]
            .filter(Boolean)
            .join(" · ")}
        </p>
      </div>
    </li>
  );
}

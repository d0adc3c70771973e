import { useState } from "preact/hooks";
import { get, post, Problem as Refused } from "../../api/call";
import type { Calendar, Command, Group, ScheduledCommand, ScheduledCommandRun } from "../../api/types";
import { DaysPicture } from "../../calendars/DaysPicture";
import type { Window as Open } from "../../calendars/windows";
import { zoneOf } from "../../calendars/zoneOf";
import { dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { changeRecord, deleteRecord } from "../../records/records";
import { go } from "../../router";
import { changed, deviceNow, positionNow } from "../../state/fleet";
import { drop, useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { startOfDay } from "../../time/zones";
import { CommandTabs } from "../sent/CommandTabs";
import { type Edge, edgesOf, nextFiring, type Phase, stepsOf } from "./edges";
import { RunTable } from "./RunTable";
import { commandName, listed, useCalendars, useGroups, useSavedCommands, vehiclesOf } from "./records";
import { ScheduleDialog } from "./ScheduleDialog";
import { TargetsDialog } from "./TargetsDialog";
import "./schedules.css";

const PATH = "/scheduledcommands";
const DAYS = 14;
/** Knots, above which a vehicle is said to drive: 5 km/h. */
const DRIVING = 2.7;
const MOST_NAMES = 20;
/** Of the edges of two weeks, the first. */
const MOST_EDGES = 40;

/** One schedule: when it fires and what it sends then, for whom, and what became of it. */
export default function SchedulePage({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const { value, problem, reload } = useLoaded(`schedule ${id}`, (signal) =>
    get<ScheduledCommand>(`${PATH}/${id}`, undefined, signal),
  );
  const missing = problem instanceof Refused && problem.status === 404;
  return (
    <div class="page schedules">
      {value ? (
        <Schedule key={id} schedule={value} reload={reload} />
      ) : (
        <>
          <CommandTabs chosen="schedules" title={t("schedule.title")} />
          {missing && <Empty icon="history" title={t("schedule.missing")} />}
          {!missing && problem !== null && <Problem problem={problem} onRetry={reload} />}
          {problem === null && <Skeleton label={t("common.loading")} lines={6} />}
        </>
      )}
    </div>
  );
}

type Opened = "edit" | "targets" | "delete" | Phase | null;

function Schedule({ schedule, reload }: { schedule: ScheduledCommand; reload: () => void }) {
  const { id, name, active, description } = schedule;
  const calendars = useCalendars();
  const commands = useSavedCommands();
  const groups = useGroups();
  const [opened, setOpened] = useState<Opened>(null);
  const [turn, setTurn] = useState(0);
  void changed.value;
  const vehicles = vehiclesOf(schedule.deviceIds, schedule.groupIds, groups);
  const calendar = calendars.value?.find((each) => each.id === schedule.calendarId);
  const close = () => setOpened(null);

  async function setActive(on: boolean) {
    try {
      await changeRecord<ScheduledCommand>(PATH, id, (stored) => ({ ...stored, active: on }));
      toast(t(on ? "schedule.wasSwitchedOn" : "schedule.wasSwitchedOff", { name }));
    } catch (reason) {
      toast(sentenceOf(reason), "bad");
    }
    reload();
  }
  return (
    <>
      <CommandTabs chosen="schedules" title={name}>
        <div class="button-row">
          {(["start", "end"] as const)
            .filter((phase) => stepsOf(schedule, phase).length > 0)
            .map((phase) => (
              <button
                key={phase}
                type="button"
                disabled={vehicles.length === 0}
                onClick={() => setOpened(phase)}
              >
                <Icon name="play" size={16} />
                {t(`schedule.run.${phase}`)}
              </button>
            ))}
          {may("edit") && (
            <>
              <button type="button" onClick={() => void setActive(!active)}>
                {t(active ? "schedule.switchOff" : "schedule.switchOn")}
              </button>
              <button type="button" onClick={() => setOpened("edit")}>
                <Icon name="edit" size={16} />
                {t("schedule.edit")}
              </button>
              <button type="button" class="dangerous" onClick={() => setOpened("delete")}>
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            </>
          )}
        </div>
      </CommandTabs>
      {description && <p>{description}</p>}
      <p role="status" class="schedule-state">
        <strong>{t(active ? "schedule.on" : "schedule.off")}</strong>
        {!active && ` · ${t("schedule.offText")}`}
        {schedule.ownerId === 0 && ` · ${t("schedule.noOwner")}`}
      </p>
      <Targets
        schedule={schedule}
        vehicles={vehicles}
        groups={groups}
        onChoose={() => setOpened("targets")}
      />
      <Coming
        schedule={schedule}
        calendar={calendar}
        known={calendars.value !== undefined}
        commands={commands}
        count={vehicles.length}
      />
      <section class="card" aria-label={t("schedule.runs")}>
        <h2>{t("schedule.runs")}</h2>
        <RunTable scheduleId={id} commands={commands} turn={turn} />
      </section>
      {opened === "edit" && (
        <ScheduleDialog
          schedule={schedule}
          onClose={close}
          onSaved={() => {
            close();
            reload();
          }}
        />
      )}
      {opened === "targets" && (
        <TargetsDialog
          schedule={schedule}
          groups={groups}
          onClose={close}
          onSaved={() => {
            close();
            reload();
          }}
        />
      )}
      {opened === "delete" && (
        <Question
          title={t("record.deleteTitle", { name })}
          text={t("schedule.deleteText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(PATH, id);
            go("/schedules");
          }}
          onClose={close}
        />
      )}
      {(opened === "start" || opened === "end") && (
        <Question
          title={t(`schedule.run.${opened}`)}
          text={questionOf(schedule, opened, vehicles, commands)}
          act={t("schedule.runAct")}
          run={async () => {
            await post<readonly ScheduledCommandRun[]>(`${PATH}/${id}/run`, { phase: opened });
            drop(PATH);
            setTurn((before) => before + 1);
            toast(t("schedule.wasRun"));
          }}
          onClose={close}
        />
      )}
    </>
  );
}

/** What is sent to how many vehicles, and how many of them drive. */
function questionOf(
  schedule: ScheduledCommand,
  phase: Phase,
  vehicles: readonly number[],
  commands: ReadonlyMap<number, Command> | undefined,
): string {
  const names = listed(stepsOf(schedule, phase).map(({ commandId }) => commandName(commands, commandId)));
  const driving = vehicles.filter((id) => (positionNow(id)?.speed ?? 0) > DRIVING).length;
  return [
    t("schedule.runText", { names, count: vehicles.length }),
    driving > 0 && t("schedule.driving", { count: driving }),
  ]
    .filter(Boolean)
    .join(" ");
}

interface TargetsProps {
  schedule: ScheduledCommand;
  vehicles: readonly number[];
  groups: readonly Group[];
  onChoose: () => void;
}

function Targets({ schedule, vehicles, groups, onChoose }: TargetsProps) {
  const names = schedule.groupIds.map(
    (id) => groups.find((each) => each.id === id)?.name ?? t("schedule.hiddenGroup", { id }),
  );
  const shown = vehicles.slice(0, MOST_NAMES);
  return (
    <section class="card" aria-label={t("schedule.targets")}>
      <header class="page-head">
        <h2>{t("schedule.targets")}</h2>
        {may("edit") && vehicles.length > 0 && (
          <button type="button" onClick={onChoose}>
            {t("schedule.choose")}
          </button>
        )}
      </header>
      {vehicles.length === 0 && (
        <Empty icon="car" title={t("schedule.noTargets")} text={t("schedule.noTargetsText")}>
          {may("edit") && (
            <button type="button" class="primary" onClick={onChoose}>
              {t("schedule.choose")}
            </button>
          )}
        </Empty>
      )}
      {vehicles.length > 0 && (
        <>
          <p>
            {t("schedule.vehicles", { count: vehicles.length })}
            {names.length > 0 && ` · ${t("schedule.ofGroups", { names: listed(names) })}`}
          </p>
          <ul class="schedule-vehicles">
            {shown.map((id) => (
              <li key={id}>
                <Link to={`/vehicles/${id}`}>{deviceNow(id)?.name}</Link>
              </li>
            ))}
            {vehicles.length > shown.length && (
              <li>{t("schedule.moreVehicles", { count: vehicles.length - shown.length })}</li>
            )}
          </ul>
        </>
      )}
    </section>
  );
}

interface ComingProps {
  schedule: ScheduledCommand;
  calendar: Calendar | undefined;
  /** Whether calendars were read at all. */
  known: boolean;
  commands: ReadonlyMap<number, Command> | undefined;
  count: number;
}

/** The windows of the next two weeks, with what is sent at their edges. */
function Coming({ schedule, calendar, known, commands, count }: ComingProps) {
  const title = t("schedule.coming", { days: DAYS });
  if (!calendar) {
    return (
      <section class="card" aria-label={title}>
        <h2>{title}</h2>
        {known ? <p>{t("schedule.hiddenCalendar")}</p> : <Skeleton label={t("common.loading")} lines={5} />}
      </section>
    );
  }
  const zone = zoneOf(calendar);
  const first = startOfDay(now.value, zone);
  const span = { from: first, to: startOfDay(first, zone, DAYS) };
  return (
    <section class="card" aria-label={title}>
      <header class="page-head">
        <h2>{title}</h2>
        <Link to={`/calendars/${calendar.id}`}>{calendar.name}</Link>
      </header>
      <DaysPicture label={title} calendar={calendar} zone={zone} first={first} days={DAYS} dated>
        {(windows) => (
          <Edges
            schedule={schedule}
            windows={windows}
            span={span}
            zone={zone}
            commands={commands}
            count={count}
          />
        )}
      </DaysPicture>
    </section>
  );
}

interface EdgesProps {
  schedule: ScheduledCommand;
  windows: readonly Open[];
  span: Open;
  zone: string;
  commands: ReadonlyMap<number, Command> | undefined;
  count: number;
}

function Edges({ schedule, windows, span, zone, commands, count }: EdgesProps) {
  const edges = edgesOf(windows, span).filter(({ at }) => at > now.value);
  const next = nextFiring(schedule, edges, now.value);
  if (edges.length === 0) return <p>{t("schedule.noneSoon", { days: DAYS })}</p>;
  return (
    <ol class="schedule-edges" aria-label={t("schedule.edges")}>
      {edges.slice(0, MOST_EDGES).map((edge) => (
        <EdgeRow
          key={`${edge.phase} ${edge.at}`}
          edge={edge}
          schedule={schedule}
          zone={zone}
          commands={commands}
          count={count}
          isNext={edge === next}
        />
      ))}
      {edges.length > MOST_EDGES && <li>{t("schedule.moreEdges", { count: edges.length - MOST_EDGES })}</li>}
    </ol>
  );
}

interface EdgeRowProps {
  edge: Edge;
  schedule: ScheduledCommand;
  zone: string;
  commands: ReadonlyMap<number, Command> | undefined;
  count: number;
  isNext: boolean;
}

function EdgeRow({ edge, schedule, zone, commands, count, isNext }: EdgeRowProps) {
  const { at, phase } = edge;
  const steps = stepsOf(schedule, phase);
  const sends =
    steps.length === 0
      ? t("schedule.sendsNothing")
      : listed(
          steps.map(({ commandId, delaySeconds }, index) => {
            const name = commandName(commands, commandId);
            return index > 0 && delaySeconds > 0
              ? t("schedule.later", { name, minutes: Math.round(delaySeconds / 6) / 10 })
              : name;
          }),
        );
  return (
    <li class={isNext ? "next" : steps.length === 0 ? "idle" : ""}>
      <time dateTime={new Date(at).toISOString()}>{dateTime(at, { ...style.value, zone })}</time>
      <span>{t(`schedule.edge.${phase}`)}</span>
      <span>
        {sends}
        {steps.length > 0 && ` → ${t("schedule.vehicles", { count })}`}
        {isNext && <strong> · {t("schedule.isNext")}</strong>}
      </span>
    </li>
  );
}

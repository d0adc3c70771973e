import { useEffect } from "preact/hooks";
import { get } from "../../api/call";
import type { Command, ScheduledCommandRun } from "../../api/types";
import { shortTime, utc } from "../../format/times";
import { hasText, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { deviceNow } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { commandName } from "./records";
import { gridOf } from "./runs";

/** Steps that are read, of all vehicles. */
const MOST_RUNS = 1000;
const MOST_COLUMNS = 30;
const AGAIN_MS = 10_000;

interface RunTableProps {
  scheduleId: number;
  commands: ReadonlyMap<number, Command> | undefined;
  /** Changes when runs are to be read anew. */
  turn: number;
}

/** What became of each step for each vehicle, by time; kept up to date while it is looked at. */
export function RunTable({ scheduleId, commands, turn }: RunTableProps) {
  const { value, problem, reload } = useLoaded(`runs ${scheduleId}`, (signal) =>
    get<readonly ScheduledCommandRun[]>(
      `/scheduledcommands/${scheduleId}/runs`,
      { limit: MOST_RUNS },
      signal,
    ),
  );
  useEffect(() => {
    if (turn > 0) reload();
  }, [turn, reload]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [reload]);
  if (!value && problem !== null) return <Problem problem={problem} onRetry={reload} />;
  if (!value) return <Skeleton label={t("common.loading")} lines={3} />;
  if (value.length === 0) return <p>{t("schedule.noRuns")}</p>;
  const { columns, rows, more } = gridOf(value, MOST_COLUMNS);
  const isLong = new Set(value.map(({ commandId }) => commandId)).size > 1;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways is reached by keyboard */}
      <section class="run-table" tabIndex={0} aria-label={t("schedule.runs")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("schedule.vehicle")}</th>
              {columns.map(({ phase, at }) => (
                <th key={`${phase} ${at}`} scope="col" title={utc(at)}>
                  {shortTime(at, now.value, style.value)}
                  <small>{t(`schedule.phase.${phase as "start" | "end" | "manual"}`)}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ deviceId, cells }) => (
              <tr key={deviceId}>
                <th scope="row">
                  <Link to={`/vehicles/${deviceId}/commands`}>
                    {deviceNow(deviceId)?.name ?? t("schedule.hiddenVehicle", { id: deviceId })}
                  </Link>
                </th>
                {cells.map((runs, index) => (
                  <td key={`${columns[index]?.phase} ${columns[index]?.at}`}>
                    {runs.map((run) => (
                      <p key={run.id} class={`run ${run.status}`} title={run.detail ?? ""}>
                        {isLong && <small>{commandName(commands, run.commandId)}</small>}
                        {runText(run)}
                      </p>
                    ))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {(more > 0 || value.length === MOST_RUNS) && <p class="field-hint">{t("schedule.olderRuns")}</p>}
    </>
  );
}

/** `Not sent: the vehicle was offline`. */
export function runText({
  status,
  reason,
  detail,
}: Pick<ScheduledCommandRun, "status" | "reason" | "detail">): string {
  const key = `schedule.status.${status}`;
  const state = hasText(key) ? t(key) : status;
  if (!reason) return state;
  const reasonKey = `schedule.reason.${reason}`;
  const because = hasText(reasonKey) ? t(reasonKey) : reason;
  const why = t("schedule.because", { state, reason: because });
  return detail ? `${why} (${detail})` : why;
}

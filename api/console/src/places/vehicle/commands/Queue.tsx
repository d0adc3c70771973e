import { useEffect } from "preact/hooks";
import { get, Problem as Refused, remove } from "../../../api/call";
import type { WaitingCommand } from "../../../api/types";
import { typeName } from "../../../commands/names";
import { noteCancelled, noteQueue, sentCommands } from "../../../commands/sentCommands";
import { shortTime } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Icon } from "../../../parts/Icon";
import { Problem, sentenceOf } from "../../../parts/Problem";
import { toast } from "../../../parts/Toast";
import { device } from "../../../state/fleet";
import { useLoaded } from "../../../state/responseCache";
import { may, session, style } from "../../../state/session";
import { now } from "../../../time/clock";

/** While something is kept the queue is read this often; what others keep or cancel makes no message. */
const BEAT_MS = 10_000;

/** The commands that are kept for a vehicle, whichever user queued them, with a button to cancel each. */
export function Queue({ id }: { id: number }) {
  const queue = useLoaded(`queue ${id}`, async (signal) => {
    const asked = Date.now();
    const waiting = await get<WaitingCommand[]>("/commands/queue", { deviceId: id }, signal);
    noteQueue(id, new Set(waiting.map((each) => each.id)), asked);
    return waiting;
  });
  const status = device(id).value?.status;
  const outcomes = sentCommands.value
    .filter((each) => each.deviceId === id && each.outcome !== "sending")
    .map((each) => each.outcome)
    .join();
  const { reload } = queue;
  useEffect(reload, [status, outcomes, reload]);
  const some = (queue.value?.length ?? 0) > 0;
  useEffect(() => {
    if (!some) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, BEAT_MS);
    return () => clearInterval(timer);
  }, [some, reload]);

  async function cancel(each: WaitingCommand) {
    try {
      await remove(`/commands/queue/${each.id}`);
      noteCancelled(each.id);
    } catch (problem) {
      const gone = problem instanceof Refused && problem.status === 404;
      toast(gone ? t("command.wasCancelled") : sentenceOf(problem), "bad");
    }
    reload();
  }

  return (
    <section class="card" aria-labelledby="command-queue">
      <h2 id="command-queue">{t("command.queue")}</h2>
      {queue.problem !== null && <Problem problem={queue.problem} onRetry={reload} />}
      {queue.value?.length === 0 && <p class="card-text">{t("command.queueEmpty")}</p>}
      <ul class="command-log">
        {(queue.value ?? []).map((each) => (
          <li key={each.id}>
            <Icon name="pause" size={18} />
            <div>
              <p>
                <strong>{typeName(each.type)}</strong> <small>{shortDate(each.created)}</small>
              </p>
              <p>
                {t(byWhom(each))}
                {each.expires && ` · ${t("command.until", { time: shortDate(each.expires) })}`}
              </p>
            </div>
            {(each.userId === session.value?.id || (may("edit") && may("anyCommand"))) && (
              <button
                type="button"
                class="quiet"
                aria-label={t("command.cancel", { command: typeName(each.type) })}
                onClick={() => void cancel(each)}
              >
                {t("common.cancel")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function byWhom({ userId, scheduledCommandId }: WaitingCommand) {
  if (scheduledCommandId !== 0) return "command.bySchedule" as const;
  return userId === session.value?.id ? ("command.byYou" as const) : ("command.byOther" as const);
}

function shortDate(text: string | null): string {
  return text ? shortTime(Date.parse(text), now.value, style.value) : "";
}

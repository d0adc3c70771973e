import type { LoggedCommand } from "../../api/types";
import { savedName } from "../../commands/names";
import { dateTime, shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon, type IconName } from "../../parts/Icon";
import { deviceNow } from "../../state/fleet";
import { session, style } from "../../state/session";
import { now } from "../../time/clock";
import type { State } from "./log";
import "./logged.css";

const ICONS: Record<State, IconName> = {
  QUEUED: "pause",
  SENT: "next",
  ANSWERED: "check",
  REFUSED: "warning",
  EXPIRED: "close",
  CANCELLED: "close",
  UNKNOWN: "help",
};

interface LoggedCommandsProps {
  items: readonly LoggedCommand[];
  /** Whether each row names its vehicle. */
  vehicles?: boolean;
  label: string;
}

/** Commands of the log, each with who caused it and what became of it, in words. */
export function LoggedCommands({ items, vehicles = false, label }: LoggedCommandsProps) {
  return (
    <ol class="logged" aria-label={label}>
      {items.map((each) => (
        <li key={each.id} class={`logged-${failed(each) ? "failed" : each.state.toLowerCase()}`}>
          <Icon name={failed(each) ? "warning" : ICONS[each.state]} size={18} />
          <div>
            <p class="logged-name">
              {vehicles && (
                <Link to={`/vehicles/${each.deviceId}/commands`}>
                  {deviceNow(each.deviceId)?.name ?? t("sent.vehicle")}
                </Link>
              )}
              <strong>{savedName(each)}</strong>
              <time dateTime={each.time} title={dateTime(Date.parse(each.time), style.value)}>
                {shortTime(Date.parse(each.time), now.value, style.value)}
              </time>
            </p>
            <p>{outcomeOf(each)}</p>
            <p class="faint">
              <Cause command={each} />
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Whether the vehicle says that it has not done it. */
function failed({ state, answerOk }: LoggedCommand): boolean {
  return state === "ANSWERED" && answerOk === false;
}

/** Who sent it, with a link to what it was sent for. */
function Cause({ command }: { command: LoggedCommand }) {
  const { origin, eventId, ticketId } = command;
  const name = personOf(command);
  if (origin === "SCHEDULE") return <>{t("sent.bySchedule", { name })}</>;
  if (origin === "NOTIFICATION") {
    return (
      <>
        {t("sent.byNotification", { name })}
        {eventId > 0 && (
          <>
            {" · "}
            <Link to={`/events/${eventId}`}>{t("sent.event")}</Link>
          </>
        )}
      </>
    );
  }
  return (
    <>
      {t("sent.by", { name })}
      {ticketId > 0 && (
        <>
          {" · "}
          <Link to={`/tickets/${ticketId}`}>{t("sent.ticket")}</Link>
        </>
      )}
    </>
  );
}

export function personOf({ userId, userName }: LoggedCommand): string {
  if (userId > 0 && userId === session.value?.id) return t("sent.you");
  return userName || t("sent.somebody");
}

/** What became of it, as a sentence. */
export function outcomeOf({ state, reason, textChannel, answer, answerOk }: LoggedCommand): string {
  if (state === "ANSWERED") {
    if (answer) return t(answerOk ? "sent.answeredText" : "sent.failedText", { text: answer });
    return t(answerOk ? "sent.answered" : "sent.failed");
  }
  if (state === "SENT" && textChannel) return t("sent.sentByText");
  const said = t(`sent.outcome.${state}`);
  return reason ? t("sent.because", { outcome: said, reason }) : said;
}

import { useState } from "preact/hooks";
import type { Notification, NotificationTrial } from "../api/types";
import { dateTime, shortTime } from "../format/times";
import { t } from "../i18n/translate";
import { Link } from "../Link";
import { sentenceOf } from "../parts/Problem";
import { deviceNow } from "../state/fleet";
import { style } from "../state/session";
import { now } from "../time/clock";
import { channelName } from "./channels";
import { Message } from "./Message";
import { type Linked, sentText, type TrialSpan, tryNotification } from "./trial";
import "./notifications.css";

const SPANS: readonly TrialSpan[] = ["yesterday", "week"];
const MOST_LISTED = 10;

interface TrialCardProps {
  notification: Notification;
  linked: Linked;
}

/** Tries a notification as it is in a form, before it is saved. */
export function TrialCard({ notification, linked }: TrialCardProps) {
  const asked = JSON.stringify([notification, linked]);
  const [tried, setTried] = useState<{ of: string; span: TrialSpan; trial: NotificationTrial } | null>(null);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  async function run(span: TrialSpan) {
    setBusy(true);
    setSaid("");
    try {
      setTried({ of: asked, span, trial: await tryNotification(notification, linked, span) });
    } catch (problem) {
      setTried(null);
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
  }
  return (
    <section class="notification-trial" aria-label={t("notification.trial")}>
      <h3>{t("notification.trial")}</h3>
      <p class="field-hint">{t("notification.trialHint")}</p>
      <div class="button-row">
        {SPANS.map((span) => (
          <button
            key={span}
            type="button"
            disabled={busy || !notification.type}
            onClick={() => void run(span)}
          >
            {t(`notification.try.${span}`)}
          </button>
        ))}
      </div>
      <div aria-live="polite">
        {tried && tried.of !== asked && <p class="field-hint">{t("notification.trialOld")}</p>}
        {tried && <Result trial={tried.trial} />}
      </div>
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </section>
  );
}

function Result({ trial }: { trial: NotificationTrial }) {
  const { events, shut, channels, newest, preview } = trial;
  const unreached = channels.filter((each) => each.unreached > 0);
  return (
    <>
      <p>
        <strong>
          {events === 0
            ? t("notification.concernsNone")
            : t("notification.concerns", {
                count: events,
                sent: sentText(trial) || t("notification.sendsNone"),
              })}
        </strong>
        {shut > 0 && ` ${t("notification.shut", { count: shut })}`}
      </p>
      <p class="field-hint">
        {t("notification.since", { at: dateTime(Date.parse(trial.from), style.value) })}
      </p>
      {unreached.map(({ type, unreached: count }) => (
        <p key={type} class="notification-unreached">
          {t("notification.unreached", { count, channel: channelName(type) })}
        </p>
      ))}
      {preview && <Message message={preview} caption={t("notification.preview")} />}
      {newest.length > 0 && (
        <ul class="notification-events" aria-label={t("notification.events")}>
          {newest.slice(0, MOST_LISTED).map(({ eventId, deviceId, eventTime }) => (
            <li key={eventId}>
              <Link to={`/events/${eventId}`}>
                {shortTime(Date.parse(eventTime), now.value, style.value)} ·{" "}
                {deviceNow(deviceId)?.name ?? deviceId}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

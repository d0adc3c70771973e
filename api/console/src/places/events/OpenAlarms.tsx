import { dateTime, duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { waitingByDevice } from "../../state/reviews";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { eventText } from "./eventText";
import { review } from "./reviewing";
import { SeverityMark } from "./SeverityMark";
import { useZoneNames } from "./zoneNames";
import "./openAlarms.css";

/** So many are shown; the others are in the list. */
const FEW = 3;

/** What of a vehicle waits for review, with what answers it. */
export function OpenAlarms({ id }: { id: number }) {
  const events = waitingByDevice.value.get(id) ?? [];
  const zones = useZoneNames();
  if (events.length === 0) return null;
  return (
    <section class="open-alarms" aria-label={t("review.waiting")}>
      <ul>
        {events.slice(0, FEW).map((event) => {
          const at = Date.parse(event.eventTime);
          const text = eventText(event, zones, style.value);
          return (
            <li key={event.id}>
              <SeverityMark of={event} />
              <Link to={`/events/${event.id}`}>{text}</Link>
              <time dateTime={event.eventTime} title={dateTime(at, style.value)}>
                {t("common.ago", { span: duration(now.value - at, style.value) })}
              </time>
              {may("review") && (
                <button
                  type="button"
                  aria-label={t("review.acknowledgeOne", { event: text })}
                  onClick={() => void review([event], "ACKNOWLEDGED")}
                >
                  {t("review.acknowledge")}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {events.length > FEW && (
        <Link to={`/events?deviceId=${id}`}>{t("review.others", { count: events.length - FEW })}</Link>
      )}
    </section>
  );
}

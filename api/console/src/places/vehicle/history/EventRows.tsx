import { useComputed } from "@preact/signals";
import type { Event } from "../../../api/types";
import { dateTime, shortTime } from "../../../format/times";
import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { Icon } from "../../../parts/Icon";
import { Rows } from "../../../parts/Rows";
import { match } from "../../../router";
import { routes } from "../../../routes";
import { style } from "../../../state/session";
import type { Cursor } from "../../../time/cursor";
import { eventText, type Names, toneOf } from "../../events/eventText";
import type { Day } from "./useHistory";

const ROW_PX = 40;

interface EventRowsProps {
  day: Day;
  cursor: Cursor;
  /** Times of its day are written without the day. */
  today: number;
  zones: Names;
  onChoose: (at: number) => void;
}

/** The events of a span; a click goes to where one happened. */
export function EventRows({ day, cursor, today, zones, onChoose }: EventRowsProps) {
  const { events } = day;
  const last = useComputed(() => {
    const at = cursor.at.value;
    return events.findLastIndex((event) => Date.parse(event.eventTime) <= at);
  }).value;
  if (events.length === 0) return <p class="faint">{t("history.noEvents")}</p>;
  return (
    <>
      {day.moreEvents && <p class="faint">{t("history.moreEvents", { count: events.length })}</p>}
      <Rows
        class="event-rows"
        label={t("vehicle.events")}
        count={events.length}
        rowHeight={ROW_PX}
        keyOf={(index) => events[index]?.id ?? index}
        current={last}
        render={(index) => {
          const event = events[index];
          return (
            event && (
              <Row event={event} today={today} isLast={index === last} zones={zones} onChoose={onChoose} />
            )
          );
        }}
      />
    </>
  );
}

interface RowProps {
  event: Event;
  today: number;
  isLast: boolean;
  zones: Names;
  onChoose: (at: number) => void;
}

function Row({ event, today, isLast, zones, onChoose }: RowProps) {
  const time = Date.parse(event.eventTime);
  const proof = `/events/${event.id}`;
  return (
    <div class="event-row">
      <button type="button" aria-current={isLast ? "true" : undefined} onClick={() => onChoose(time)}>
        <time dateTime={event.eventTime} title={dateTime(time, style.value)}>
          {shortTime(time, today, style.value)}
        </time>
        <span class={toneOf(event)}>{eventText(event, zones, style.value)}</span>
      </button>
      {routes.some((route) => match(route.pattern, proof)) && (
        <Link to={proof} class="icon-button" aria-label={t("history.proof")} title={t("history.proof")}>
          <Icon name="open" size={16} />
        </Link>
      )}
    </div>
  );
}

import type { ListedEvent } from "../../api/types";
import { dateTime, shortTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { device } from "../../state/fleet";
import { reviewOf } from "../../state/reviews";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { historyAt } from "../vehicle/acts";
import { eventText, iconOf, type Names, toneOf } from "./eventText";

/** Pixels of a row: on phones it has two lines. */
export function rowHeight(): number {
  return window.matchMedia("(max-width: 699px)").matches ? 56 : 40;
}

interface EventRowProps {
  event: ListedEvent;
  /** How many of the same kind the row stands for besides. */
  others?: number;
  zones: Names;
  /** Where the arrows are. */
  current?: boolean;
  /** Whether the vehicle is known from what stands around the list. */
  withoutVehicle?: boolean;
}

/** An event: what, which vehicle, when. Leads to its proof, and to the vehicle at that time. */
export function EventRow({
  event,
  others = 0,
  zones,
  current = false,
  withoutVehicle = false,
}: EventRowProps) {
  const text = eventText(event, zones, style.value);
  const at = Date.parse(event.eventTime);
  return (
    <div class={`event-row ${toneOf(event)}${current ? " current" : ""}`}>
      <Icon name={iconOf(event)} />
      <Link to={`/events/${event.id}`} class="event-row-text">
        {others > 0 ? t("event.files", { text, count: others }) : text}
        {event.place && !text.includes(event.place) && <small translate={false}> · {event.place}</small>}
        <Reviewed of={event} />
      </Link>
      {!withoutVehicle && <VehicleLink id={event.deviceId} at={at} />}
      <time dateTime={event.eventTime} title={`${dateTime(at, style.value)} · ${utc(at)}`}>
        {shortTime(at, now.value, style.value)}
      </time>
    </div>
  );
}

/** What became of an event that had to be reviewed. */
function Reviewed({ of }: { of: ListedEvent }) {
  const review = reviewOf(of);
  if (!review) return null;
  const { state, userName, note } = review;
  const text = t(`review.state.${state}`);
  return (
    <small title={note ?? undefined}>
      {" · "}
      {state !== "OPEN" && userName ? t("review.stateBy", { state: text, name: userName }) : text}
    </small>
  );
}

/** The vehicle of an event, at the time of the event. */
export function VehicleLink({ id, at }: { id: number; at: number }) {
  const name = nameOf(id);
  if (!id) return <span class="event-row-vehicle" />;
  return (
    <Link to={historyAt(id, at)} class="event-row-vehicle" title={t("event.atVehicle", { name })}>
      {name}
    </Link>
  );
}

/** The name of a vehicle; its number where it is not in the reader's list. */
export function nameOf(id: number): string {
  return device(id).value?.name ?? t("event.number", { id });
}

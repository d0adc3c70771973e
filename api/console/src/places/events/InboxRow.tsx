import type { Driver, ListedEvent } from "../../api/types";
import { dateTime, duration, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { deviceNow } from "../../state/fleet";
import { read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { VehicleLink } from "./EventRow";
import { eventText, type Names } from "./eventText";
import { fileAddress } from "./ProofFiles";
import { SeverityMark } from "./SeverityMark";

/** Pixels of a row: on phones it has three lines. */
export function inboxRowHeight(): number {
  return window.matchMedia("(max-width: 699px)").matches ? 104 : 60;
}

interface InboxRowProps {
  event: ListedEvent;
  zones: Names;
  /** Where the arrows are. */
  current: boolean;
  /** Null for readers who review nothing. */
  selected: boolean | null;
  onSelect: (isRange: boolean) => void;
}

/** An event that waits: how severe, what, where, which vehicle and driver, its picture, and for how long. */
export function InboxRow({ event, zones, current, selected, onSelect }: InboxRowProps) {
  const text = eventText(event, zones, style.value);
  const at = Date.parse(event.eventTime);
  return (
    <div class={`inbox-row${current ? " current" : ""}${selected ? " selected" : ""}`}>
      {selected !== null && (
        <label class="inbox-check">
          <input
            type="checkbox"
            aria-label={t("review.select", { event: text })}
            checked={selected}
            onClick={(click) => onSelect(click.shiftKey)}
          />
        </label>
      )}
      <SeverityMark of={event} />
      <Link to={`/events/${event.id}`} class="inbox-text">
        <strong>{text}</strong>
        {event.place && <small translate={false}>{event.place}</small>}
      </Link>
      <span class="inbox-who">
        <VehicleLink id={event.deviceId} at={at} />
        {event.driverUniqueId && <DriverName of={event.driverUniqueId} />}
      </span>
      <Picture of={event} label={text} />
      <time dateTime={event.eventTime} title={`${dateTime(at, style.value)} · ${utc(at)}`}>
        {t("common.ago", { span: duration(now.value - at, style.value) })}
      </time>
    </div>
  );
}

/** A driver that the reader does not know by name has what the vehicle said. */
function DriverName({ of }: { of: string }) {
  const drivers = useLoaded("drivers", () => read<Driver[]>("/drivers", { excludeAttributes: true }));
  const found = drivers.value?.find(({ uniqueId }) => uniqueId === of);
  return <small translate={false}>{found?.name ?? of}</small>;
}

function Picture({ of, label }: { of: ListedEvent; label: string }) {
  const uniqueId = deviceNow(of.deviceId)?.uniqueId;
  if (!of.picture || !uniqueId) return <span />;
  return (
    <img
      class="inbox-picture"
      src={fileAddress(uniqueId, of.picture)}
      alt={t("review.picture", { event: label })}
      loading="lazy"
    />
  );
}

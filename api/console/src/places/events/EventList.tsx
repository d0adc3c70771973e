import { useMemo, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { Rows } from "../../parts/Rows";
import { go } from "../../router";
import { reviewOf } from "../../state/reviews";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { EventRow, rowHeight } from "./EventRow";
import { addressOf, type EventFilters, requestOf } from "./filters";
import { linesOf, MOST } from "./pages";
import { useEvents } from "./useEvents";
import { useZoneNames } from "./zoneNames";

interface EventListProps {
  /** The address without its query. */
  path: string;
  filters: EventFilters;
  /** Whether all are of one vehicle, which stands above. */
  ofVehicle?: boolean;
}

/** The events that the filters leave, the newest first; arrows move through them. */
export function EventList({ path, filters, ofVehicle = false }: EventListProps) {
  const key = `${addressOf(path, filters)} ${style.value.zone}`;
  const { events, more = false, problem, readMore, reload } = useEvents(key, filters);
  const zones = useZoneNames();
  const [at, setAt] = useState(-1);
  // What others have reviewed meanwhile belongs to another list.
  const shown = (events ?? []).filter(
    (event) => filters.state === "ALL" || reviewOf(event)?.state === filters.state,
  );
  const lines = useMemo(() => linesOf(shown), [shown.map(({ id }) => id).join(), events]);
  const count = lines.length;
  const step = (by: number) => setAt(Math.max(0, Math.min(count - 1, at + by)));
  useKeys("list", {
    next: () => step(1),
    previous: () => step(-1),
    open: () => {
      const line = lines[at];
      if (line) go(`/events/${line.event.id}`);
      return line !== undefined;
    },
  });

  if (!requestOf(filters, now.peek(), style.value.zone)) {
    return <Empty icon="events" title={t("event.badSpan")} />;
  }
  if (!events) {
    return problem === null ? (
      <Skeleton label={t("common.loading")} lines={8} />
    ) : (
      <Problem problem={problem} onRetry={reload} />
    );
  }
  if (count === 0) return <Nothing path={path} filters={filters} />;
  return (
    <>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      <Rows
        class="event-rows"
        label={t("event.list")}
        count={count}
        rowHeight={rowHeight()}
        current={at}
        onEnd={readMore}
        keyOf={(index) => lines[index]?.event.id ?? index}
        render={(index) => {
          const line = lines[index];
          return (
            line && <EventRow {...line} zones={zones} current={index === at} withoutVehicle={ofVehicle} />
          );
        }}
      />
      <p class="event-count" role="status">
        {events.length >= MOST
          ? t("event.full", { count: events.length })
          : t(more ? "event.countMore" : "event.count", { count: events.length })}
        {more && (
          <button type="button" class="link" onClick={readMore}>
            {t("event.more")}
          </button>
        )}
      </p>
    </>
  );
}

function Nothing({ path, filters }: { path: string; filters: EventFilters }) {
  const cleared = addressOf(path, { ...filters, kinds: [], deviceId: null, groupId: null });
  return (
    <Empty
      icon="events"
      title={t(filters.state === "ALL" ? "event.empty" : "review.none")}
      text={t("event.emptyText")}
    >
      {cleared !== addressOf(path, filters) && (
        <button type="button" onClick={() => go(cleared)}>
          {t("event.clear")}
        </button>
      )}
    </Empty>
  );
}

import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { go, location } from "../../router";
import { waitingCount } from "../../state/reviews";
import { EventFilter } from "./EventFilter";
import { EventList } from "./EventList";
import { addressOf, type EventFilters, filtersOf, STATES } from "./filters";
import { Inbox } from "./Inbox";
import { NoticesDialog } from "./NoticesDialog";
import "./events.css";
import "./inbox.css";

const PATH = "/events";

/** What happened to all vehicles: first what waits for review, and all of it. */
export default function Events() {
  const filters = filtersOf(location.value.query);
  const [notices, setNotices] = useState(false);
  useEffect(() => {
    document.title = `${t("event.title")} · Motorpool`;
  }, []);
  return (
    <div class="events all">
      <header class="events-head">
        <h1>{t("event.title")}</h1>
        <button type="button" onClick={() => setNotices(true)}>
          <Icon name="alarm" size={18} />
          {t("event.notices")}
        </button>
      </header>
      <States filters={filters} />
      <EventFilter path={PATH} filters={filters} />
      {filters.state === "OPEN" ? (
        <Inbox path={PATH} filters={filters} />
      ) : (
        <EventList path={PATH} filters={filters} />
      )}
      {notices && <NoticesDialog onClose={() => setNotices(false)} />}
    </div>
  );
}

function States({ filters }: { filters: EventFilters }) {
  return (
    <fieldset class="event-states chips" aria-label={t("review.title")}>
      {STATES.map((state) => (
        <button
          key={state}
          type="button"
          class="chip"
          aria-pressed={filters.state === state}
          onClick={() => go(addressOf(PATH, { ...filters, state }))}
        >
          {t(`review.filter.${state}`)}
          {state === "OPEN" && waitingCount.value > 0 && ` ${waitingCount.value}`}
        </button>
      ))}
    </fieldset>
  );
}

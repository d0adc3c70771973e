import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { location } from "../../router";
import { EventFilter } from "./EventFilter";
import { EventList } from "./EventList";
import { filtersOf } from "./filters";
import { NoticesDialog } from "./NoticesDialog";
import "./events.css";

const PATH = "/events";

/** What happened to all vehicles. */
export default function Events() {
  const filters = filtersOf(location.value.query);
  const [notices, setNotices] = useState(false);
  useEffect(() => {
    document.title = `${t("event.title")} · Motorpool`;
  }, []);
  return (
    <div class="events">
      <header class="events-head">
        <h1>{t("event.title")}</h1>
        <button type="button" onClick={() => setNotices(true)}>
          <Icon name="alarm" size={18} />
          {t("event.notices")}
        </button>
      </header>
      <EventFilter path={PATH} filters={filters} />
      <EventList path={PATH} filters={filters} />
      {notices && <NoticesDialog onClose={() => setNotices(false)} />}
    </div>
  );
}

import { useEffect } from "preact/hooks";
import { get } from "../../api/call";
import type { ListedEvent } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { recentEvents } from "../../state/events";
import { useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { EventRow } from "./EventRow";
import { linesOf } from "./pages";
import { useZoneNames } from "./zoneNames";
import "./events.css";

const FEW = 4;
/** So many are read, since files that came one after the other are one row. */
const READ = 30;
const BACK_MS = 7 * 86_400_000;

/** The newest events of a vehicle in the last seven days, for its panel. */
export function NewestEvents({ id }: { id: number }) {
  const zones = useZoneNames();
  const open = may("reports");
  const found = useLoaded(`newest events ${id} ${open}`, (signal) => {
    if (!open) return Promise.resolve([]);
    const now = Date.now();
    const [from, to] = [now - BACK_MS, now].map((instant) => new Date(instant).toISOString());
    return get<ListedEvent[]>("/events", { deviceId: id, from, to, limit: READ, places: true }, signal);
  });
  const arrived = recentEvents.value.find((event) => event.deviceId === id)?.id;
  const known = found.value?.some((event) => event.id === arrived) ?? true;
  useEffect(() => {
    if (arrived !== undefined && !known) found.reload();
  }, [arrived]);
  if (!found.value?.length) return null;
  return (
    <section class="event-newest">
      <h2>{t("event.newest")}</h2>
      <ul>
        {linesOf(found.value)
          .slice(0, FEW)
          .map((line) => (
            <li key={line.event.id}>
              <EventRow {...line} zones={zones} withoutVehicle />
            </li>
          ))}
      </ul>
      <Link to={`/vehicles/${id}/events`}>{t("event.all")}</Link>
    </section>
  );
}

import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { location } from "../../router";
import { device, loadDevice } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { VehicleHeader } from "../vehicle/VehicleHeader";
import { EventFilter } from "./EventFilter";
import { EventList } from "./EventList";
import { filtersOf } from "./filters";
import "./events.css";

/** What happened to a vehicle. */
export default function VehicleEvents({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`events ${id}`, (signal) => loadDevice(id, signal));
  const name = device(id).value?.name;
  useEffect(() => {
    document.title = `${name ? t("event.titleOf", { name }) : t("event.title")} · Motorpool`;
  }, [name]);
  const path = `/vehicles/${id}/events`;
  const filters = { ...filtersOf(location.value.query), deviceId: id, groupId: null, state: "ALL" as const };
  return (
    <div class="events">
      <VehicleHeader id={id} chosen="events" />
      {read.problem !== null && <Problem problem={read.problem} onRetry={read.reload} />}
      {read.problem === null && !read.value && <Skeleton label={t("common.loading")} />}
      {read.value && (
        <>
          <EventFilter path={path} filters={filters} ofVehicle />
          <EventList path={path} filters={filters} ofVehicle />
        </>
      )}
    </div>
  );
}

import type { Event, Position } from "../../api/types";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { useZones, zonesProblem } from "../../state/zones";
import { MapStage } from "../map/MapStage";
import { isPlace } from "./proof";

/** At which the map begins, until the way is in view. */
const ZOOM = 15;

interface ProofMapProps {
  event: Event;
  track: readonly Position[];
  at: Position | undefined;
}

/** The map of an event: the way two minutes before and after, its zone, and the place. */
export function ProofMap({ event: { geofenceId }, track, at }: ProofMapProps) {
  const zones = useZones(geofenceId !== 0);
  if (!isPlace(at)) return <Empty icon="map" title={t("event.noPlace")} />;
  if (geofenceId && !zones && zonesProblem.value === null) return <div class="proof-map" />;
  const found = zones?.filter(({ id }) => id === geofenceId) ?? [];
  const { longitude, latitude } = at;
  return (
    <div class="proof-map">
      <MapStage
        title={t("event.map")}
        view={{ zoom: ZOOM, longitude, latitude }}
        printable
        onOpen={(map) => {
          let closed = false;
          void parts().then(({ drawEvent, drawable }) => {
            if (!closed) drawEvent(map, track.filter(isPlace), at, drawable(found));
          });
          return () => {
            closed = true;
          };
        }}
      />
    </div>
  );
}

/** What draws an event; loaded with the library of the map, which is there by then. */
async function parts() {
  const [{ drawEvent }, { drawable }] = await Promise.all([
    import("../../map/eventMap"),
    import("../../map/zoneShapes"),
  ]);
  return { drawEvent, drawable };
}

import type { ReadonlySignal } from "@preact/signals";
import type { Event, Position } from "../../api/types";
import { t } from "../../i18n/translate";
import { trackOf, whereabouts } from "../../map/track";
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
  /** The instant that a film shows: a marker stands where the vehicle was. */
  shown: ReadonlySignal<number | null>;
}

/** The map of an event: the way two minutes before and after, its zone, and the place. */
export function ProofMap({ event: { geofenceId }, track, at, shown }: ProofMapProps) {
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
          let end = () => {};
          void parts().then(({ drawEvent, drawable, VehicleMarker }) => {
            if (closed) return;
            drawEvent(map, track.filter(isPlace), at, drawable(found));
            const marker = new VehicleMarker(map.map, t("history.vehicleThen"));
            const fixes = trackOf(track);
            end = shown.subscribe((instant) => {
              marker.set(instant === null ? null : whereabouts(fixes, instant));
            });
          });
          return () => {
            closed = true;
            end();
          };
        }}
      />
    </div>
  );
}

/** What draws an event; loaded with the library of the map, which is there by then. */
async function parts() {
  const [{ drawEvent }, { drawable }, { VehicleMarker }] = await Promise.all([
    import("../../map/eventMap"),
    import("../../map/zoneShapes"),
    import("../../map/vehicleMarker"),
  ]);
  return { drawEvent, drawable, VehicleMarker };
}

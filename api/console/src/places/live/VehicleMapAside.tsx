import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import type { VehicleMap } from "../../map/vehicleMap";
import { device, position } from "../../state/fleet";
import { useZones } from "../../state/zones";
import { vehicleOf } from "../fleet/vehicleOf";
import { MapButton } from "../map/MapButton";
import { MapFrame } from "../map/MapFrame";
import { useMap } from "../map/useMap";
import { ZonesButton } from "../map/ZonesButton";
import { zonesShown } from "../map/zonesShown";
import { Whereabouts } from "./Whereabouts";

/** The vehicle is drawn anew at most this often. */
const PACE_MS = 250;
/** Streets can be told apart. */
const ZOOM = 15;

/**
 * A map beside the cameras of a vehicle, which keeps it in the middle until the reader moves the map. With `isNamed` it
 * says which vehicle that is.
 */
export function VehicleMapAside({ id, isNamed = false }: { id: number; isNamed?: boolean }) {
  const [follow, setFollow] = useState(true);
  useEffect(() => setFollow(true), [id]);
  const shown = zonesShown.value;
  const zones = useZones(shown !== "none");
  const stage = useMap<VehicleMap>(async (container, given) => {
    const { openMap } = await import("../../map/vehicleMap");
    const at = vehicleOf(id);
    return openMap(container, {
      ...given,
      view: at ? { zoom: ZOOM, latitude: at.latitude, longitude: at.longitude } : null,
      keepsView: false,
      coveredLeft: () => 0,
      title: t("live.map"),
      onClick: () => {},
      onMenu: () => {},
      onMeasure: () => {},
      onMove: (_, away) => {
        if (away) setFollow(false);
      },
    });
  });
  const { map } = stage;
  useEffect(() => {
    if (!map) return undefined;
    let timer = 0;
    const show = () => {
      timer = 0;
      map.setChosen(vehicleOf(id) ?? null, 0, follow);
    };
    show();
    const end = effect(() => {
      device(id).value;
      position(id).value;
      timer ||= window.setTimeout(show, PACE_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [map, id, follow]);
  useEffect(() => map?.setZones(zones ?? [], shown), [map, zones, shown]);
  useKeys("vehicle", { follow: () => setFollow(!follow) });
  return (
    <aside class="live-map" aria-label={t("live.map")}>
      <MapFrame
        stage={stage}
        buttons={
          <>
            <MapButton
              icon="follow"
              label={t("map.follow")}
              pressed={follow}
              act={() => setFollow(!follow)}
            />
            <ZonesButton />
          </>
        }
      />
      <div class="live-map-of">
        {isNamed && (
          <Link to={`/vehicles/${id}`}>
            <span translate={false}>{device(id).value?.name ?? `#${id}`}</span>
          </Link>
        )}
        <Whereabouts deviceId={id} />
      </div>
    </aside>
  );
}

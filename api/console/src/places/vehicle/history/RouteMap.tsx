import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Geofence, StopItem } from "../../../api/types";
import { clockTime, duration } from "../../../format/times";
import { number, speedIn, speedSign } from "../../../format/units";
import { t } from "../../../i18n/translate";
import type { RouteOnMap } from "../../../map/route";
import { STEPS } from "../../../map/routeFeatures";
import { type Track, whereabouts } from "../../../map/track";
import type { TrackWorker } from "../../../map/trackWorker";
import { style } from "../../../state/session";
import { useZones } from "../../../state/zones";
import type { Cursor } from "../../../time/cursor";
import { MapButton } from "../../map/MapButton";
import { MapStage } from "../../map/MapStage";
import { ZonesButton } from "../../map/ZonesButton";
import { zonesShown } from "../../map/zonesShown";

/** The width of a color of the line, in each unit of speed. */
const WIDTHS = { kmh: 12, mph: 8, kn: 6 };
/** Steps that the legend names. */
const NAMED = [0, 5, STEPS - 1];

interface RouteMapProps {
  track: Track | undefined;
  worker: TrackWorker | null;
  stops: readonly StopItem[];
  cursor: Cursor;
  follow: boolean;
  onFollow: () => void;
}

/** The route of a span, and where the vehicle was at the cursor; a click on the line moves the cursor. */
export function RouteMap({ track, worker, stops, cursor, follow, onFollow }: RouteMapProps) {
  const [route, setRoute] = useState<RouteOnMap | null>(null);
  const now = useRef(cursor);
  now.current = cursor;
  const shown = zonesShown.value;
  const zones = useZones(shown !== "none");

  useEffect(() => {
    const look = style.value;
    const width = WIDTHS[look.speedUnit] / speedIn(1, look);
    if (route && track && worker) route.setTrack(track, worker, width);
  }, [route, track, worker, style.value.speedUnit]);
  useEffect(() => {
    const look = style.value;
    route?.setStops(
      stops.map(({ latitude, longitude, startTime, duration: length }, index) => ({
        number: index + 1,
        latitude,
        longitude,
        label: `${clockTime(Date.parse(startTime), look)} · ${duration(length, look)}`,
      })),
    );
  }, [route, stops, style.value]);
  useEffect(() => {
    if (!route || !track) return undefined;
    return effect(() => {
      route.setVehicle(whereabouts(track, cursor.at.value), follow, !cursor.playing.peek());
    });
  }, [route, track, cursor, follow]);
  useEffect(() => route?.setZones(zones ?? NO_ZONES, shown), [route, zones, shown]);

  return (
    <MapStage
      title={t("history.map")}
      view={null}
      printable
      onOpen={(map) => {
        let made: RouteOnMap | null = null;
        let gone = false;
        void import("../../../map/route").then(({ RouteOnMap: Made }) => {
          if (gone) return;
          made = new Made(map, t("history.vehicleThen"), several, (at) => {
            now.current.at.value = at;
          });
          setRoute(made);
        });
        return () => {
          gone = true;
          made?.close();
        };
      }}
      buttons={
        <>
          <MapButton icon="follow" label={t("map.follow")} pressed={follow} act={onFollow} />
          <MapButton icon="fullScreen" label={t("history.wholeRoute")} act={() => route?.fit()} />
          <ZonesButton />
        </>
      }
    >
      {track && track.at.length > 0 && <Legend />}
    </MapStage>
  );
}

const NO_ZONES: readonly Geofence[] = [];
const several = (count: number) => t("history.stops", { count });

/** The colors of the line. */
function Legend() {
  const look = style.value;
  return (
    <p class="route-legend">
      <span class="route-steps" aria-hidden="true">
        {Array.from({ length: STEPS }, (_, step) => (
          <span key={step} style={{ background: `var(--speed-${step})` }} />
        ))}
      </span>
      {NAMED.map((step) => (
        <span key={step}>
          {number(step * WIDTHS[look.speedUnit], 0, look)}
          {step === STEPS - 1 && `+ ${speedSign(look)}`}
        </span>
      ))}
    </p>
  );
}

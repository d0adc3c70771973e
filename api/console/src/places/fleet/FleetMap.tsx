import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import type { Spot, VehicleMap } from "../../map/vehicleMap";
import { go, location, withQuery } from "../../router";
import { device, position } from "../../state/fleet";
import { waitingByDevice } from "../../state/reviews";
import { server, session } from "../../state/session";
import { useZones } from "../../state/zones";
import { coveredBy } from "../map/ListDrawer";
import { MapButton } from "../map/MapButton";
import { MapFrame } from "../map/MapFrame";
import { useMap } from "../map/useMap";
import { ZonesButton } from "../map/ZonesButton";
import { zonesShown } from "../map/zonesShown";
import { Here } from "./Here";
import { listDrawn } from "./listDrawn";
import { MapMenu, openVehicle, queryWithout } from "./MapMenu";
import { MeasureBar } from "./MeasureBar";
import { PlaceBar } from "./PlaceBar";
import { readPlace } from "./shownPlace";
import { vehicleOf } from "./vehicleOf";
import { preferredView, readView, writeView } from "./view";

/** The chosen vehicle is drawn anew at most this often. */
const CHOSEN_MS = 250;

interface FleetMapProps {
  chosen: number | null;
  /** The vehicles that the list shows. */
  found: readonly number[];
}

/** The map of the vehicles in the list; a click opens one, a right click shows what can be done. */
export function FleetMap({ chosen, found }: FleetMapProps) {
  const [menu, setMenu] = useState<Spot | null>(null);
  const [here, setHere] = useState<Spot | null>(null);
  const [measured, setMeasured] = useState<number | null>(null);
  const shown = zonesShown.value;
  const zones = useZones(shown !== "none");
  const follows = chosen !== null && location.value.query.get("follow") === "1";
  const stage = useMap<VehicleMap>(async (container, given) => {
    const [{ openMap }] = await Promise.all([import("../../map/vehicleMap"), listDrawn()]);
    const asked = readView(location.peek().query.get("at"));
    return openMap(container, {
      ...given,
      view: asked ?? preferredView(session.peek(), server.peek()),
      keepsView: asked !== null && "id" in location.peek().params,
      coveredLeft: () => coveredBy(".drawer-list", container),
      title: t("map.title"),
      onClick: (spot) => {
        const [first, second] = spot.vehicles;
        const [zone] = spot.zones;
        if (second) setMenu(spot);
        else if (first) openVehicle(first.id);
        else if (zone) go(`/zones/${zone.id}`);
      },
      onMenu: setMenu,
      onMove: (view, away) => {
        const query = queryWithout(...(away ? ["follow"] : []));
        query.set("at", writeView(view));
        go(withQuery(location.peek().path, query), { replace: true });
      },
      onMeasure: setMeasured,
    });
  });
  const { map } = stage;

  useEffect(() => {
    if (map && !document.hidden) map.setVehicles(found.flatMap((id) => vehicleOf(id) ?? []));
  }, [map, found, waitingByDevice.value]);

  useEffect(() => {
    if (!map) return undefined;
    if (!chosen) return map.setChosen(null, 0, false);
    let timer = 0;
    const show = () => {
      timer = 0;
      map.setChosen(vehicleOf(chosen) ?? null, coveredBy(".vehicle-panel", stage.element.current), follows);
    };
    show();
    const end = effect(() => {
      device(chosen).value;
      position(chosen).value;
      waitingByDevice.value;
      timer ||= window.setTimeout(show, CHOSEN_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [map, chosen, follows]);

  useEffect(() => map?.setZones(zones ?? [], shown), [map, zones, shown]);

  const place = readPlace(location.value.query);
  useEffect(() => {
    map?.showPlace(place, readView(location.peek().query.get("at"))?.zoom ?? null);
  }, [map, place?.latitude, place?.longitude]);

  const endMeasuring = () => {
    map?.stopMeasuring();
    setMeasured(null);
  };
  const toggle = () => {
    const query = queryWithout("follow");
    if (!follows) query.set("follow", "1");
    go(withQuery(location.value.path, query), { replace: true });
  };
  useKeys("vehicle", { follow: () => (chosen ? toggle() : false) });

  return (
    <MapFrame
      stage={stage}
      buttons={
        <>
          {chosen !== null && (
            <MapButton icon="follow" label={t("map.follow")} pressed={follows} act={toggle} />
          )}
          <ZonesButton />
          <MapButton icon="fullScreen" label={t("map.all")} act={() => map?.showAll()} />
        </>
      }
    >
      {map && measured !== null && (
        <MeasureBar meters={measured} onBack={() => map.measureBack()} onEnd={endMeasuring} />
      )}
      {place && measured === null && <PlaceBar place={place} />}
      {menu && (
        <MapMenu
          of={menu}
          onMeasure={() => map?.measureFrom(menu)}
          onHere={() => setHere(menu)}
          onClose={() => setMenu(null)}
        />
      )}
      {here && <Here of={here} onClose={() => setHere(null)} />}
    </MapFrame>
  );
}

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { MapUnavailable } from "../../map/unavailable";
import type { Spot, VehicleMap } from "../../map/vehicleMap";
import { wishesOf } from "../../map/wishes";
import { Empty } from "../../parts/Empty";
import { go, location, withQuery } from "../../router";
import { device, position } from "../../state/fleet";
import { server, session, style } from "../../state/session";
import { useZones } from "../../state/zones";
import { creditsOf } from "../map/credits";
import { MapButton } from "../map/MapButton";
import { ZonesButton } from "../map/ZonesButton";
import { zonesShown } from "../map/zonesShown";
import { Here } from "./Here";
import { MapMenu, openVehicle, queryWithout } from "./MapMenu";
import { MeasureBar } from "./MeasureBar";
import { vehicleOf } from "./vehicleOf";
import { preferredView, readView, writeView } from "./view";
import "../map/stage.css";

/** The chosen vehicle is drawn anew at most this often. */
const CHOSEN_MS = 250;

interface FleetMapProps {
  chosen: number | null;
  /** The vehicles that the list shows. */
  found: readonly number[];
}

interface Opened {
  map: VehicleMap;
  credits: string;
}

type Failure = "map.needsWebgl" | "map.notLoaded";

/** The map of the vehicles in the list; a click opens one, a right click shows what can be done. */
export function FleetMap({ chosen, found }: FleetMapProps) {
  const element = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [menu, setMenu] = useState<Spot | null>(null);
  const [here, setHere] = useState<Spot | null>(null);
  const [measured, setMeasured] = useState<number | null>(null);
  const shown = zonesShown.value;
  const zones = useZones(shown !== "none");
  const follows = chosen !== null && location.value.query.get("follow") === "1";

  useEffect(() => {
    const container = element.current;
    if (!container) return undefined;
    let map: VehicleMap | null = null;
    let gone = false;
    const onClick = (spot: Spot) => {
      const [first, second] = spot.vehicles;
      const [zone] = spot.zones;
      if (second) setMenu(spot);
      else if (first) openVehicle(first.id);
      else if (zone) go(`/zones/${zone.id}`);
    };
    const onMove: Parameters<typeof openedMap>[1]["onMove"] = (view, away) => {
      const query = queryWithout(...(away ? ["follow"] : []));
      query.set("at", writeView(view));
      go(withQuery(location.peek().path, query), { replace: true });
    };
    openedMap(container, { onClick, onMenu: setMenu, onMove, onMeasure: setMeasured })
      .then((made) => {
        if (gone) return made.map.close();
        map = made.map;
        return setOpened(made);
      })
      .catch((problem: unknown) => {
        // Nothing else throws once all is loaded.
        setFailure(problem instanceof MapUnavailable ? "map.needsWebgl" : "map.notLoaded");
      });
    return () => {
      gone = true;
      map?.close();
    };
  }, []);

  useEffect(() => {
    if (opened && !document.hidden) opened.map.setVehicles(found.flatMap((id) => vehicleOf(id) ?? []));
  }, [opened, found]);

  useEffect(() => {
    if (!opened) return undefined;
    if (!chosen) return opened.map.setChosen(null, 0, false);
    let timer = 0;
    const show = () => {
      timer = 0;
      opened.map.setChosen(vehicleOf(chosen) ?? null, coveredWidth(element.current), follows);
    };
    show();
    const end = effect(() => {
      device(chosen).value;
      position(chosen).value;
      timer ||= window.setTimeout(show, CHOSEN_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [opened, chosen, follows]);

  useEffect(() => opened?.map.setZones(zones ?? [], shown), [opened, zones, shown]);

  const endMeasuring = () => {
    opened?.map.stopMeasuring();
    setMeasured(null);
  };
  const toggle = () => {
    const query = queryWithout("follow");
    if (!follows) query.set("follow", "1");
    go(withQuery(location.value.path, query), { replace: true });
  };
  useKeys("vehicle", { follow: () => (chosen ? toggle() : false) });

  return (
    <div class="map-stage">
      <div ref={element} class="map-canvas" />
      {failure && <Empty icon="map" title={t("map.unavailable")} text={t(failure)} />}
      {opened && (
        <>
          <div class="map-buttons">
            {chosen !== null && (
              <MapButton icon="follow" label={t("map.follow")} pressed={follows} act={toggle} />
            )}
            <ZonesButton />
            <MapButton icon="fullScreen" label={t("map.all")} act={() => opened.map.showAll()} />
            <div class="button-pair">
              <MapButton icon="plus" label={t("map.zoomIn")} act={() => opened.map.zoomBy(1)} />
              <MapButton icon="minus" label={t("map.zoomOut")} act={() => opened.map.zoomBy(-1)} />
            </div>
          </div>
          {opened.credits && <p class="map-credits">{opened.credits}</p>}
        </>
      )}
      {opened && measured !== null && (
        <MeasureBar meters={measured} onBack={() => opened.map.measureBack()} onEnd={endMeasuring} />
      )}
      {menu && (
        <MapMenu
          of={menu}
          onMeasure={() => opened?.map.measureFrom(menu)}
          onHere={() => setHere(menu)}
          onClose={() => setMenu(null)}
        />
      )}
      {here && <Here of={here} onClose={() => setHere(null)} />}
    </div>
  );
}

type Handlers = Pick<
  Parameters<typeof import("../../map/vehicleMap")["openMap"]>[1],
  "onClick" | "onMenu" | "onMove" | "onMeasure"
>;

/** Load the map, which the list does not wait for. */
async function openedMap(container: HTMLElement, handlers: Handlers): Promise<Opened> {
  const language = style.peek().language;
  const wishes = wishesOf(session.peek(), server.peek());
  const [{ openMap }, base] = await Promise.all([
    import("../../map/vehicleMap"),
    import("../../map/base").then(({ loadBase }) => loadBase(language, wishes)),
  ]);
  const asked = readView(location.peek().query.get("at"));
  const map = await openMap(container, {
    ...handlers,
    base,
    language,
    view: asked ?? preferredView(session.peek(), server.peek()),
    keepsView: asked !== null && "id" in location.peek().params,
    title: t("map.title"),
  });
  return { map, credits: creditsOf(base) };
}

/** Pixels that the panel covers at the right of the map. */
function coveredWidth(element: HTMLElement | null): number {
  const panel = element?.closest(".fleet")?.querySelector(".vehicle-panel");
  return panel && getComputedStyle(panel).position === "absolute"
    ? panel.getBoundingClientRect().width + 10
    : 0;
}

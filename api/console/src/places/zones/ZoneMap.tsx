import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Geofence } from "../../api/types";
import { t } from "../../i18n/translate";
import { boundsOf, container } from "../../map/areaGeometry";
import type { BaseMap, View } from "../../map/baseMap";
import { VehicleMarks } from "../../map/vehicleMarks";
import { drawable, halfWidthOf, type Zone } from "../../map/zoneShapes";
import { ZoneLayers } from "../../map/zones";
import { go, location, withQuery } from "../../router";
import { snapshot } from "../../state/fleet";
import { may, server, session, style } from "../../state/session";
import type { Filters } from "../fleet/filters";
import { useFilteredVehicles } from "../fleet/useFilteredVehicles";
import { vehicleOf } from "../fleet/vehicleOf";
import { preferredView, readView, writeView } from "../fleet/view";
import { coveredBy } from "../map/ListDrawer";
import { MapStage } from "../map/MapStage";
import type { Editing } from "./editing";
import { useDrawing } from "./useDrawing";

interface ZoneMapProps {
  zones: readonly Geofence[] | null;
  /** Whether a zone is open, which `editing` has once it is loaded. */
  isOpen: boolean;
  editing: Editing | null;
  onOpen: (address: string) => void;
  onHandles: (has: boolean) => void;
  /** Where the map is now, once it is there. */
  onView: (view: View) => void;
}

interface Opened {
  base: BaseMap;
  layers: ZoneLayers;
  marks: VehicleMarks;
}

const ALL_VEHICLES: Filters = { keyword: "", status: "", groupId: null };

const PLACED = { begins: false, comes: false };
const MARGIN_PX = 60;
const MOST_FIT_ZOOM = 15;
/** A zone that is smaller than this on the map is brought nearer when it is opened. */
const LEAST_SIZE_PX = 40;

/** The map of all zones, on which one is drawn. */
export function ZoneMap({ zones, isOpen, editing, onOpen, onHandles, onView }: ZoneMapProps) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [handles, setHandles] = useState(false);
  const latest = useRef({ editing, onOpen, onView });
  latest.current = { editing, onOpen, onView };
  const drawn = useMemo(() => drawable(zones ?? []), [zones]);
  const asked = readView(location.peek().query.get("at")) !== null;
  /** Whether the map begins with all zones, and whether the zone of the address has yet to come into view. */
  const placing = useRef({ begins: !asked, comes: !asked && isOpen });

  const id = editing?.stored.value.record?.id ?? null;
  const record = editing?.record.value ?? null;
  const shape = editing?.shape.value ?? null;
  useEffect(() => {
    const others = drawn.filter((zone) => zone.id !== id);
    // A shape with handles is drawn by what draws them, but for the width of a corridor.
    const isDrawn = shape && (!handles || shape.kind === "corridor" || !may("edit"));
    const own = isDrawn && record ? [draftOf(record, shape)] : [];
    opened?.layers.set([...others, ...own]);
  }, [opened, drawn, id, record, shape, handles]);

  const { ids: vehicles } = useFilteredVehicles(ALL_VEHICLES, null);
  useEffect(() => {
    if (!document.hidden) opened?.marks.set(vehicles.flatMap((each) => vehicleOf(each) ?? []));
  }, [opened, vehicles]);
  useEffect(() => {
    if (opened && placing.current.begins) begin(opened.base, drawn);
  }, [opened, zones === null]);
  useEffect(() => {
    const { record: stored } = editing?.stored.peek() ?? {};
    const area = editing?.shape.peek();
    const zone = stored && area && { shape: area, halfWidth: halfWidthOf(stored) };
    if (!opened || !zone) return;
    if (placing.current.comes || !isSeen(opened.base, zone)) showAll(opened.base, [zone]);
    placing.current = PLACED;
  }, [opened, id]);
  useDrawing(opened?.base ?? null, may("edit") ? editing : null, (has) => {
    setHandles(has);
    onHandles(has);
  });

  function open(base: BaseMap): () => void {
    const layers = new ZoneLayers(base.map);
    base.addDrawn(layers);
    const marks = new VehicleMarks(base, style.peek().language);
    base.addDrawn(marks);
    base.map.on("click", (event) => {
      const { editing: edited } = latest.current;
      const own = edited?.shape.peek();
      if (edited?.drawing.peek()) return;
      const { lat, lng } = event.lngLat.wrap();
      if (edited && own && container(own, halfWidthOf(edited.record.peek()))([lat, lng])) return;
      const found = layers.under(event.point);
      if (found !== null) latest.current.onOpen(withQuery(`/zones/${found}`, location.peek().query));
    });
    base.map.on("moveend", (event) => {
      const view = base.view();
      latest.current.onView(view);
      if (!("originalEvent" in event && event.originalEvent)) return;
      placing.current = PLACED;
      const query = new URLSearchParams(location.peek().query);
      query.set("at", writeView(view));
      go(withQuery(location.peek().path, query), { replace: true });
    });
    latest.current.onView(base.view());
    setOpened({ base, layers, marks });
    return () => setOpened(null);
  }

  return (
    <MapStage title={t("zone.mapTitle")} view={readView(location.peek().query.get("at"))} onOpen={open} />
  );
}

function draftOf(record: Geofence, shape: Zone["shape"]): Zone {
  const { id, name, attributes } = record;
  const color = typeof attributes.color === "string" ? attributes.color : "";
  return { id, name, color, shape, halfWidth: halfWidthOf(record) };
}

/** Begin with all zones, or with all vehicles, unless user or server prefer a view. */
function begin(base: BaseMap, zones: readonly Zone[]): void {
  if (preferredView(session.peek(), server.peek())) return;
  const places = snapshot().flatMap(({ position }) =>
    position?.valid ? [[position.latitude, position.longitude] as const] : [],
  );
  const vehicles = { shape: { kind: "polygon", rings: [places] }, halfWidth: 0 } as const;
  if (zones.length > 0) showAll(base, zones);
  else if (places.length > 0) showAll(base, [vehicles]);
}

/** Whether a zone is in view as a whole, and large enough to be worked on. */
function isSeen(base: BaseMap, { shape, halfWidth }: Pick<Zone, "shape" | "halfWidth">): boolean {
  const [west, south, east, north] = boundsOf(shape, halfWidth);
  const bounds = base.map.getBounds();
  const [first, second] = [base.map.project([west, north]), base.map.project([east, south])];
  const size = Math.max(second.x - first.x, second.y - first.y);
  return bounds.contains([west, south]) && bounds.contains([east, north]) && size > LEAST_SIZE_PX;
}

function showAll(base: BaseMap, zones: readonly Pick<Zone, "shape" | "halfWidth">[]): void {
  let [west, south, east, north] = [360, 90, -360, -90];
  for (const { shape, halfWidth } of zones) {
    const bounds = boundsOf(shape, halfWidth);
    [west, south] = [Math.min(west, bounds[0]), Math.min(south, bounds[1])];
    [east, north] = [Math.max(east, bounds[2]), Math.max(north, bounds[3])];
  }
  base.map.fitBounds([west, south, east, north], {
    padding: {
      top: MARGIN_PX,
      right: MARGIN_PX,
      bottom: MARGIN_PX,
      left: MARGIN_PX + coveredBy(".drawer-list", base.map.getContainer()),
    },
    maxZoom: MOST_FIT_ZOOM,
    animate: false,
  });
}

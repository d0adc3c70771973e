import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem as Refused } from "../../api/call";
import { t } from "../../i18n/translate";
import type { ShapeKind } from "../../map/area";
import { Dialog } from "../../parts/Dialog";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go, location, withQuery } from "../../router";
import { useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { useZones } from "../../state/zones";
import { ListStage } from "../map/ListDrawer";
import { Editing, newZone } from "./editing";
import { firstShape, placeOfAddress } from "./firstShape";
import { loadZone } from "./requests";
import { ZoneList } from "./ZoneList";
import { ZoneMap } from "./ZoneMap";
import { ZonePanel } from "./ZonePanel";
import "./zones.css";

const KINDS: readonly string[] = ["circle", "polygon", "corridor"] satisfies ShapeKind[];

/** Map and list of all zones, and the one that is open or drawn. */
export default function Zones({ params }: { params: Record<string, string> }) {
  const zones = useZones();
  const isNew = params.id === "new" && may("edit");
  const number = Number(params.id);
  const id = Number.isInteger(number) && number > 0 ? number : null;
  const isOpen = params.id !== undefined;
  const loaded = useLoaded(`zone ${isNew ? "new" : id}`, async (signal) => {
    if (isNew) return newZone();
    return id === null ? null : loadZone(id, signal);
  });
  const { query } = location.value;
  const editing = useMemo(() => (loaded.value ? new Editing(loaded.value) : null), [loaded.value]);
  const [reshapable, setReshapable] = useState(true);
  const [drawer, setDrawer] = useState(!isOpen);
  const [leaving, setLeaving] = useState<string | null>(null);
  const view = useRef({ zoom: 1, latitude: 0, longitude: 0 });

  // Who opens a zone wants to see it on the map, and comes back to the list.
  useLayoutEffect(() => setDrawer(!isOpen), [isOpen, id]);
  const kind = query.get("kind");
  const place = query.get("place");
  useEffect(() => {
    if (!editing || !isNew) return;
    const at = placeOfAddress(place);
    if (at) editing.setShape(firstShape("circle", at, view.current));
    else if (kind && KINDS.includes(kind)) editing.drawing.value = kind as ShapeKind;
  }, [editing, kind, place]);
  const name = editing?.stored.value.record?.name;
  useEffect(() => {
    document.title = `${isOpen && name ? name : t("zone.title")} · Motorpool`;
  }, [isOpen, name]);

  const leave = (to: string) => {
    if (editing?.isChanged.peek()) setLeaving(to);
    else go(to);
  };
  const list = withQuery("/zones", { keyword: query.get("keyword"), at: query.get("at") });
  const missing =
    (isOpen && !isNew && id === null) || (loaded.problem instanceof Refused && loaded.problem.status === 404);
  return (
    <div class={`zones with-drawer${isOpen ? " with-zone" : ""}${drawer ? " drawer-open" : ""}`}>
      {!isOpen && <h1 class="hidden">{t("zone.title")}</h1>}
      <ZoneList
        zones={zones}
        chosen={id}
        onOpen={leave}
        onShow={() => setDrawer(true)}
        onFold={() => setDrawer(false)}
      />
      <ListStage label={t("zone.list")} onShow={() => setDrawer(true)}>
        <ZoneMap
          zones={zones}
          isOpen={isOpen}
          editing={editing}
          onOpen={leave}
          onHandles={setReshapable}
          onView={(now) => {
            view.current = now;
          }}
        />
      </ListStage>
      {isOpen && editing && (
        <ZonePanel
          key={id ?? "new"}
          editing={editing}
          reshapable={reshapable}
          onNumbers={(wanted) => {
            const { latitude, longitude } = view.current;
            editing.setShape(firstShape(wanted, [latitude, longitude], view.current));
            editing.drawing.value = null;
          }}
          onClose={() => leave(list)}
          onDone={(saved) => {
            if (saved === null) go(list);
            else if (saved !== id)
              go(withQuery(`/zones/${saved}`, { at: query.get("at") }), { replace: true });
          }}
        />
      )}
      {isOpen && !editing && (
        <aside class="zone-panel" aria-label={t("zone.panel")}>
          {missing && <Empty icon="zone" title={t("zone.missing")} />}
          {!missing && loaded.problem !== null && (
            <Problem problem={loaded.problem} onRetry={loaded.reload} />
          )}
          {!missing && loaded.problem === null && <Skeleton label={t("common.loading")} lines={6} />}
        </aside>
      )}
      {leaving && (
        <Dialog
          title={t("zone.discard")}
          onClose={() => setLeaving(null)}
          actions={
            <>
              <button type="button" autofocus onClick={() => setLeaving(null)}>
                {t("zone.stay")}
              </button>
              <button
                type="button"
                class="dangerous"
                onClick={() => {
                  setLeaving(null);
                  go(leaving);
                }}
              >
                {t("zone.discardAct")}
              </button>
            </>
          }
        >
          <p>{t("zone.discardText")}</p>
        </Dialog>
      )}
    </div>
  );
}

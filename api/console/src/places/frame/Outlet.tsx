import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Skeleton } from "../../parts/Late";
import { location } from "../../router";
import type { PlaceProps, Route } from "../../routes";

const loadedPlaces = new Map<Route["load"], ComponentType<PlaceProps>>();
const RELOADED = "motorpool.reloaded";

/** The place of an address, loaded when it is first needed. */
export function Outlet({ route }: { route: Route | undefined }) {
  const [, redraw] = useState(0);
  const [broken, setBroken] = useState(false);
  const load = route?.load;
  useEffect(() => {
    if (!load || loadedPlaces.has(load)) return;
    let left = false;
    load().then(
      (module) => {
        sessionStorage.removeItem(RELOADED);
        loadedPlaces.set(load, module.default);
        if (!left) redraw((count) => count + 1);
      },
      () => {
        // The server has a newer build, whose chunks have other names: one reload finds them.
        if (sessionStorage.getItem(RELOADED)) setBroken(true);
        else {
          sessionStorage.setItem(RELOADED, "yes");
          window.location.reload();
        }
      },
    );
    return () => {
      left = true;
    };
  }, [load]);
  if (!load) return <Missing />;
  if (broken) return <Broken />;
  const Place = loadedPlaces.get(load);
  if (!Place) return <PlaceSkeleton map={route?.map ?? false} />;
  return <Place params={location.value.params} />;
}

/** The form of a place that is being loaded: a list beside a map, or lines. */
export function PlaceSkeleton({ map }: { map: boolean }) {
  if (!map) return <Skeleton label={t("common.loading")} lines={6} />;
  return (
    <div class="place-skeleton">
      <div>
        <Skeleton label={t("common.loading")} lines={16} rowHeight={56} />
      </div>
    </div>
  );
}

function Missing() {
  return (
    <Empty icon="pin" title={t("frame.missing")}>
      <Link class="button" to="/fleet">
        {t("frame.toFleet")}
      </Link>
    </Empty>
  );
}

function Broken() {
  return (
    <Empty icon="warning" title={t("frame.broken")}>
      <button type="button" onClick={() => window.location.reload()}>
        {t("frame.reload")}
      </button>
    </Empty>
  );
}

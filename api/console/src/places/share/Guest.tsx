import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { location, match } from "../../router";
import { device, deviceIds, loadDevice, loaded, position } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { session } from "../../state/session";
import { camerasOf } from "../../video/channels";
import { FleetMap } from "../fleet/FleetMap";
import { StatusMark } from "../vehicle/StatusMark";
import { Facts } from "../vehicle/VehiclePanel";
import "../fleet/fleet.css";
import "../vehicle/vehicle.css";
import "./share.css";

/** Map and list of what is shared; the one vehicle is always open. */
export function Guest() {
  const ids = deviceIds.value;
  const asked = Number(match("/vehicles/:id", location.value.path)?.id);
  const one = ids.length === 1 ? (ids[0] ?? null) : null;
  const chosen = ids.includes(asked) ? asked : one;
  const title = session.value?.name ?? "";
  useEffect(() => {
    document.title = `${title} · Motorpool`;
  }, [title]);
  if (!loaded.value) return <Skeleton label={t("common.loading")} lines={6} />;
  if (ids.length === 0) return <Empty icon="car" title={t("share.nothing")} />;
  return (
    <div class="guest-place">
      <section class="guest-list" aria-label={t("share.shared")}>
        {chosen === null && (
          <>
            <h1>{title}</h1>
            {asked > 0 && <p role="status">{t("vehicle.missing")}</p>}
            <ul>
              {ids.map((id) => (
                <li key={id}>
                  <Row id={id} />
                </li>
              ))}
            </ul>
          </>
        )}
        {chosen !== null && <Vehicle key={chosen} id={chosen} alone={one !== null} />}
      </section>
      <div class="list-stage">
        <FleetMap chosen={chosen} found={ids} />
      </div>
    </div>
  );
}

function Row({ id }: { id: number }) {
  const found = device(id).value;
  if (!found) return null;
  return (
    <Link to={`/vehicles/${id}`}>
      <strong>{found.name}</strong>
      <StatusMark of={found} at={position(id).value} />
    </Link>
  );
}

/** What a vehicle does and where; live video where it has cameras. */
function Vehicle({ id, alone }: { id: number; alone: boolean }) {
  const details = useLoaded(`device ${id}`, (signal) => loadDevice(id, signal));
  const found = device(id).value;
  const at = position(id).value;
  if (!found) return null;
  return (
    <>
      <div class="guest-head">
        {!alone && (
          <Link to="/share" class="icon-button" aria-label={t("share.all")} title={t("share.all")}>
            <Icon name="back" />
          </Link>
        )}
        <h1>{found.name}</h1>
      </div>
      <Facts of={found} at={at} brief>
        {details.value && camerasOf(details.value, at).length > 0 && (
          <Link to={`/vehicles/${id}/live`} class="button primary">
            <Icon name="camera" size={18} />
            {t("vehicle.live")}
          </Link>
        )}
      </Facts>
    </>
  );
}

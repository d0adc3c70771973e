import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import {
  device,
  deviceIds,
  deviceNow,
  isComplete,
  loadDevice,
  loaded,
  position,
  positionNow,
  wantDevice,
} from "../../state/fleet";
import { cameraLabel, cameraOf } from "../../video/cameraNames";
import { camerasOf } from "../../video/channels";
import { readTiles, type TileId } from "../../video/tiles";
import { NoVehicles } from "../fleet/NoVehicles";
import { useBeat } from "../fleet/useBeat";
import { StatusMark } from "../vehicle/StatusMark";
import { offered } from "./cameraChoice";
import { Whereabouts } from "./Whereabouts";
import { savedWalls } from "./walls";
import "../vehicle/vehicle.css";

/** Vehicles at first, and as many more with each press. */
const AT_ONCE = 24;

/** What an empty wall offers: saved walls, then the cameras of vehicles that are online, or that are searched. */
export function CameraChooser({ onAdd }: { onAdd: (tiles: readonly TileId[]) => void }) {
  const [keyword, setKeyword] = useState("");
  const [most, setMost] = useState(AT_ONCE);
  const search = useRef<HTMLInputElement>(null);
  useBeat();
  useKeys("anywhere", { search: () => search.current?.select() });
  const candidates = deviceIds.value.flatMap((id) => {
    const found = deviceNow(id);
    return found ? [{ device: found, position: positionNow(id) }] : [];
  });
  const vehicles = offered(candidates, keyword);
  const shown = vehicles.slice(0, most);
  const walls = savedWalls();
  return (
    <div class="camera-chooser">
      {walls.length > 0 && (
        <section aria-labelledby="saved-walls">
          <h2 id="saved-walls">{t("live.saved")}</h2>
          <div class="button-row">
            {walls.map((wall) => (
              <Link key={wall.name} class="button" to={`/live?${wall.query}`}>
                <Icon name="wall" size={18} />
                {wall.name}
                <small class="faint">
                  {t("live.pictures", { count: readTiles(new URLSearchParams(wall.query)).length })}
                </small>
              </Link>
            ))}
          </div>
        </section>
      )}
      <section aria-labelledby="camera-choice">
        <header>
          <h2 id="camera-choice">{t("live.choose")}</h2>
          <form
            class="search"
            onSubmit={(event) => {
              event.preventDefault();
              const first = vehicles[0]?.device;
              if (keyword && first)
                void loadDevice(first.id).then(
                  () => onAdd(tilesOf(first.id)),
                  () => {},
                );
            }}
          >
            <Icon name="search" size={18} />
            <input
              ref={search}
              type="search"
              aria-label={t("live.search")}
              placeholder={t("live.search")}
              value={keyword}
              onInput={(event) => {
                setKeyword(event.currentTarget.value);
                setMost(AT_ONCE);
              }}
            />
          </form>
        </header>
        {!loaded.value ? (
          <Skeleton label={t("common.loading")} lines={6} />
        ) : vehicles.length === 0 && keyword ? (
          <Empty icon="search" title={t("live.noneFound")} />
        ) : deviceIds.value.length === 0 ? (
          <NoVehicles />
        ) : vehicles.length === 0 ? (
          <Empty icon="camera" title={t("live.noneOnline")} text={t("live.noneOnlineText")} />
        ) : (
          <ul class="camera-vehicles">
            {shown.map(({ device: { id } }) => (
              <Vehicle key={id} id={id} onAdd={onAdd} />
            ))}
          </ul>
        )}
        {vehicles.length > most && (
          <button type="button" onClick={() => setMost(most + AT_ONCE)}>
            {t("live.moreVehicles", { count: Math.min(AT_ONCE, vehicles.length - most) })}
          </button>
        )}
      </section>
    </div>
  );
}

function Vehicle({ id, onAdd }: { id: number; onAdd: (tiles: readonly TileId[]) => void }) {
  wantDevice(id);
  const found = device(id).value;
  if (!found) return null;
  // Until they are known nothing is offered that is not there.
  const tiles = isComplete(id) ? tilesOf(id) : [];
  return (
    <li>
      <p class="camera-vehicle">
        <Link to={`/vehicles/${id}`}>{found.name}</Link>
        <StatusMark of={found} at={position(id).value} />
      </p>
      <Whereabouts deviceId={id} />
      <div class="camera-buttons">
        {tiles.map((tile) => (
          <button
            key={tile.camera}
            type="button"
            aria-label={cameraOf(id, tile.camera)}
            onClick={() => onAdd([tile])}
          >
            <Icon name="play" size={16} />
            {cameraLabel(id, tile.camera)}
          </button>
        ))}
        {tiles.length > 1 && (
          <button
            type="button"
            class="quiet"
            aria-label={t("live.allOf", { name: found.name })}
            onClick={() => onAdd(tiles)}
          >
            <Icon name="wall" size={16} />
            {t("live.allCameras")}
          </button>
        )}
      </div>
    </li>
  );
}

/** All cameras of a vehicle. */
function tilesOf(id: number): readonly TileId[] {
  const found = deviceNow(id);
  const cameras = found ? camerasOf(found, positionNow(id)) : [];
  return cameras.map((camera) => ({ deviceId: id, camera }));
}

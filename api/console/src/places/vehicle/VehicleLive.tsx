import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Problem } from "../../parts/Problem";
import { go, location, withQuery } from "../../router";
import { device, loadDevice, position } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { camerasOf } from "../../video/channels";
import { fullScreen, Tile } from "../../video/Tile";
import { speakByKey } from "../../video/talk/talk";
import { columnsOf, wallAddress } from "../../video/tiles";
import { vehicleMap } from "../live/mapShown";
import { VehicleMapAside } from "../live/VehicleMapAside";
import "../live/live.css";
import { VehicleHeader } from "./VehicleHeader";

/** All cameras of a vehicle, live: `?channel=1&channel=2` shows some of them, `&sound=1` names the one that is heard. */
export default function VehicleLive({ params }: { params: Record<string, string> }) {
  const id = Number(params.id);
  const read = useLoaded(`live ${id}`, (signal) => loadDevice(id, signal));
  const name = device(id).value?.name;
  useEffect(() => {
    document.title = `${name ? t("live.titleOf", { name }) : t("live.title")} · Motorpool`;
  }, [name]);
  return (
    <div class="live">
      <VehicleHeader id={id} chosen="live" />
      {read.problem ? (
        <Problem problem={read.problem} onRetry={read.reload} />
      ) : read.value ? (
        <Cameras id={id} />
      ) : (
        <div class="live-waiting" role="status" aria-label={t("common.loading")}>
          <span class="tile" />
          <span class="tile" />
        </div>
      )}
    </div>
  );
}

function Cameras({ id }: { id: number }) {
  const found = device(id).value;
  const { query } = location.value;
  const wall = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const cameras = found ? camerasOf(found, position(id).value) : [];
  const asked = query.getAll("channel").map(Number);
  const some = cameras.filter((camera) => asked.includes(camera));
  const shown = some.length > 0 ? some : cameras;
  const sound = Number(query.get("sound"));
  const focus = shown[at] ?? shown[0] ?? 0;

  /** The address is what is shown; looking at another camera is no step to come back from. */
  function show(channels: readonly number[], heard: number) {
    const next = new URLSearchParams();
    if (channels.length < cameras.length) for (const each of channels) next.append("channel", String(each));
    if (heard) next.set("sound", String(heard));
    go(withQuery(`/vehicles/${id}/live`, next), { replace: true });
  }
  function alone(camera: number) {
    if (!cameras.includes(camera)) return false;
    show(shown.length === 1 && shown[0] === camera ? cameras : [camera], sound);
    return true;
  }
  useKeys("player", {
    camera: (key) => alone(Number(key)),
    sound: () => show(shown, sound ? 0 : focus),
    fullScreen: () => fullScreen(wall.current),
    talk: (_, event) => speakByKey({ deviceId: id, camera: focus }, event),
  });

  if (cameras.length === 0) {
    return <Empty icon="camera" title={t("live.noCameras")} text={t("live.noCamerasText")} />;
  }
  const tiles = cameras.map((camera) => ({ deviceId: id, camera }));
  return (
    <div class={vehicleMap.shown.value ? "live-body with-map" : "live-body"}>
      <div ref={wall} class="wall" style={{ "--columns": columnsOf("auto", shown.length) }}>
        {shown.map((camera, index) => (
          <div key={camera} onFocusCapture={() => setAt(index)}>
            <Tile
              deviceId={id}
              camera={camera}
              sound={sound === camera}
              onSound={() => show(shown, sound === camera ? 0 : camera)}
              {...(cameras.length > 1 && {
                onChoose: () => alone(camera),
                chooseLabel: t(shown.length === 1 ? "live.all" : "live.alone"),
                chooseIcon: shown.length === 1 ? "wall" : "eye",
              })}
            />
          </div>
        ))}
        <p class="wall-foot button-row">
          <Link class="button" to={wallAddress(tiles, "auto", "")}>
            <Icon name="wall" size={18} />
            {t("live.toWall")}
          </Link>
          <button type="button" aria-pressed={vehicleMap.shown.value} onClick={vehicleMap.toggle}>
            <Icon name="map" size={18} />
            {t("live.mapShown")}
          </button>
        </p>
      </div>
      {vehicleMap.shown.value && <VehicleMapAside key={id} id={id} />}
    </div>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { address } from "../api/call";
import { t } from "../i18n/translate";
import { Link } from "../Link";
import { Icon } from "../parts/Icon";
import { Menu } from "../parts/Menu";
import { device } from "../state/fleet";
import { may, style } from "../state/session";
import { now } from "../time/clock";
import { cameraLabel, cameraNumber, cameraOf } from "./cameraNames";
import { Details } from "./Details";
import { KeepLive } from "./KeepLive";
import { useLiveCapture } from "./liveCapture";
import { LivePlayer, pictures } from "./player";
import { RecordingMark } from "./RecordingMark";
import { RenameCamera } from "./RenameCamera";
import { Snapshots } from "./Snapshots";
import { TalkButton } from "./talk/TalkButton";
import { TalkMark, useTalk } from "./talk/TalkMark";
import { canTalk } from "./talk/talk";
import { tileMessage } from "./tileMessage";
import type { TileId } from "./tiles";
import { useShown } from "./useShown";
import { useStill } from "./useStill";
import "./tile.css";

export interface TileProps extends TileId {
  /** Whether this one has the sound of the page. */
  sound: boolean;
  onSound: () => void;
  /** Stills instead of a moving picture, until it is chosen. */
  stills?: boolean;
  onStillsForOthers?: () => void;
  /** Choose this one: shown alone, or moving among stills. */
  onChoose?: () => void;
  chooseLabel?: string;
  chooseIcon?: "eye" | "wall" | "play";
  onRemove?: () => void;
  /** Said of the vehicle above its name, such as where it is. */
  place?: ComponentChildren;
}

/** Minutes that a recording lasts which nobody ends. */
const MOST_MINUTES = 60;

/** A camera's live picture, with what is to be said of it. */
export function Tile(props: TileProps) {
  const { deviceId, camera, sound, stills = false } = props;
  const root = useRef<HTMLElement>(null);
  const video = useRef<HTMLVideoElement>(null);
  const shown = useShown(root);
  const [player, setPlayer] = useState<LivePlayer | null>(null);
  const [open, setOpen] = useState(false);
  const found = device(deviceId).value;
  const online = found?.status === "online";
  const name = found?.name ?? "";

  useEffect(() => {
    const element = video.current;
    if (!shown || stills || !element) return;
    const url = address(`/stream/${deviceId}/${camera}/live.m3u8`);
    const made = new LivePlayer(url, element, online, () => distanceOf(root.current));
    setPlayer(made);
    return () => {
      made.destroy();
      setPlayer(null);
    };
    // The player learns by `setOnline` whether the vehicle is online.
  }, [shown, stills, deviceId, camera]);
  useEffect(() => player?.setOnline(online), [player, online]);
  const talk = useTalk(props);
  const talks = talk !== null && talk.phase !== "ended";
  useEffect(() => {
    // A talk has the sound of the vehicle, with less delay.
    if (video.current) video.current.muted = !sound || talks;
  }, [sound, talks]);

  const title = cameraOf(deviceId, camera);
  const [menu, setMenu] = useState<{ x: number; y: number } | null>(null);
  const [renaming, setRenaming] = useState(false);
  const capture = useLiveCapture(props);
  const mayRename = may("editDevices");
  const playing = player?.state.value.phase.name === "playing";
  const [takeStill, stillDialog] = useStill();
  const still = () => takeStill(video.current, { deviceId, vehicle: name, camera, at: Date.now() });
  return (
    <article ref={root} class={playing || stills ? "tile" : "tile without-picture"} aria-label={title}>
      {stills ? (
        <Snapshots deviceId={deviceId} camera={camera} shown={shown} title={title} />
      ) : (
        <video ref={video} muted playsInline title={title} />
      )}
      {player && <Status player={player} {...props} />}
      {stills && (
        <p class="tile-words" role="status">
          {t("live.stillsOnly")}
        </p>
      )}
      {capture.running && (
        <RecordingMark of={capture.running} busy={capture.busy} onEnd={() => void capture.end()} />
      )}
      {talk && <TalkMark of={talk} />}
      <footer class="tile-bar">
        {props.place}
        <Link to={`/vehicles/${deviceId}`} class="tile-name">
          {name || `#${deviceId}`}
        </Link>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the menu has it for keys and screen readers */}
        <span
          class="tile-camera"
          title={mayRename ? t("live.renameByClick") : undefined}
          onDblClick={() => setRenaming(mayRename)}
        >
          {cameraLabel(deviceId, camera)}
        </span>
        <div class={talks ? "tile-acts shown" : "tile-acts"}>
          {canTalk(deviceId) && <TalkButton tile={{ deviceId, camera }} />}
          {!stills && (
            <>
              <Act
                icon={sound ? "sound" : "silent"}
                label={t(sound ? "live.soundOff" : "live.soundOn")}
                pressed={sound}
                run={props.onSound}
              />
              <Act icon="still" label={t("live.still")} run={() => void still()} disabled={!playing} />
              {may("edit") && may("reports") && !capture.running && (
                <Act
                  icon="record"
                  label={t("live.record")}
                  run={() => void capture.begin(MOST_MINUTES)}
                  disabled={!playing || capture.busy}
                />
              )}
            </>
          )}
          {props.onChoose && (
            <Act
              icon={props.chooseIcon ?? "eye"}
              label={props.chooseLabel ?? t("live.alone")}
              run={props.onChoose}
            />
          )}
          <Act icon="fullScreen" label={t("live.fullScreen")} run={() => void fullScreen(root.current)} />
          {(player || mayRename) && (
            <Act
              icon="more"
              label={t("common.more")}
              run={(event) => {
                const { left, top } = event.currentTarget.getBoundingClientRect();
                setMenu({ x: left, y: top });
              }}
            />
          )}
          {props.onRemove && <Act icon="close" label={t("live.remove")} run={props.onRemove} />}
        </div>
      </footer>
      {menu && (
        <Menu
          label={title}
          at={menu}
          onClose={() => setMenu(null)}
          items={[
            ...(mayRename
              ? [{ label: t("live.rename"), icon: "edit" as const, run: () => setRenaming(true) }]
              : []),
            ...(player
              ? [{ label: t("live.details"), icon: "help" as const, run: () => setOpen(!open) }]
              : []),
          ]}
        />
      )}
      {renaming && <RenameCamera deviceId={deviceId} camera={camera} onClose={() => setRenaming(false)} />}
      {open && player && <Details player={player} />}
      {stillDialog}
    </article>
  );
}

/** What the tile says of its picture; nothing while all is well. */
function Status({ player, deviceId, camera, onStillsForOthers }: { player: LivePlayer } & TileProps) {
  const lastUpdate = device(deviceId).value?.lastUpdate;
  const said = tileMessage(
    player.state.value,
    {
      camera: cameraNumber(deviceId, camera),
      lastUpdate: lastUpdate ? Date.parse(lastUpdate) : null,
      figures: player.figures.value,
      skipped: player.skipped.value,
      playing: pictures.value,
    },
    now.value,
    style.value,
  );
  if (!said) return null;
  return (
    <div class={`tile-words ${said.tone}`}>
      {/* Each second's count is not read aloud. */}
      <p role="status" aria-live={said.tone === "wait" ? "off" : "polite"}>
        {said.text}
      </p>
      {said.progress !== undefined && <progress max={1} value={said.progress} aria-label={said.text} />}
      {said.act === "retry" && (
        <button type="button" onClick={() => player.again()}>
          {t("common.retry")}
        </button>
      )}
      {said.act === "keep" && may("edit") && may("reports") && (
        <KeepLive key={`${deviceId}.${camera}`} deviceId={deviceId} camera={camera} />
      )}
      {said.act === "stills" && onStillsForOthers && (
        <button type="button" onClick={onStillsForOthers}>
          {t("live.stillsForOthers")}
        </button>
      )}
    </div>
  );
}

interface ActProps {
  icon: "sound" | "silent" | "still" | "record" | "eye" | "wall" | "play" | "fullScreen" | "more" | "close";
  label: string;
  run: (event: { currentTarget: HTMLElement }) => void;
  pressed?: boolean;
  disabled?: boolean;
}

function Act({ icon, label, run, pressed, disabled = false }: ActProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={run}
    >
      <Icon name={icon} size={18} />
    </button>
  );
}

/** Show a tile or a wall on all of the screen, or end that. */
export async function fullScreen(element: HTMLElement | null): Promise<void> {
  if (document.fullscreenElement) await document.exitFullscreen();
  // Refused where the browser has none.
  else await element?.requestFullscreen?.().catch(() => {});
}

function distanceOf(element: HTMLElement | null): number {
  if (!element) return Number.POSITIVE_INFINITY;
  const box = element.getBoundingClientRect();
  const x = box.left + box.width / 2 - window.innerWidth / 2;
  const y = box.top + box.height / 2 - window.innerHeight / 2;
  return Math.hypot(x, y);
}

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { clockSeconds, dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Icon } from "../../parts/Icon";
import { toast } from "../../parts/Toast";
import { device, position } from "../../state/fleet";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import type { Cursor } from "../../time/cursor";
import type { Span } from "../../time/spans";
import { startOfDay } from "../../time/zones";
import type { Lane } from "../../timeline/lanes";
import { camerasOf } from "../channels";
import { saveStill, stillName } from "../still";
import { fullScreen } from "../Tile";
import { useCaptures } from "./captures";
import { FetchPanel } from "./FetchPanel";
import { FilmStage } from "./FilmStage";
import { around, whole } from "./fetch";
import { Film } from "./film";
import { useFootage } from "./footage";
import { cameraLanes, cameraOf } from "./lanes";
import { usePlaybacks } from "./playbacks";
import { readRecordings, recordingsOf } from "./recordings";
import "./film.css";

export interface RecordedFilmProps {
  deviceId: number;
  cursor: Cursor;
  /** The camera that is shown; the vehicle's first where it has none of this number. */
  camera?: number | undefined;
  onCamera?: ((camera: number) => void) | undefined;
  /** The camera that is shown first, where nothing chooses among them. */
  start?: number | undefined;
  /** Filled with the lanes of the cameras. */
  lanes?: Signal<readonly Lane[]> | undefined;
  /** A span that was marked on a lane. */
  marked?: Signal<{ lane: string; span: Span } | null> | undefined;
}

/** The film of a vehicle beside a cursor: what it has, what is fetched and what is kept, one camera at a time. */
export function RecordedFilm(props: RecordedFilmProps) {
  const { deviceId, cursor } = props;
  const film = useMemo(() => new Film(deviceId, cursor), [deviceId, cursor]);
  useEffect(() => () => film.destroy(), [film]);
  // Another cursor, such as that of another day, begins without what was marked and computed for this one.
  return <Shown key={film.id} {...props} film={film} />;
}

type ShownProps = RecordedFilmProps & { film: Film };

function Shown({ deviceId, cursor, film, camera: chosen, onCamera, start, lanes, marked }: ShownProps) {
  const stage = useRef<HTMLDivElement>(null);
  const sound = useSignal(false);
  const mark = useSignal<Span | null>(null);
  const own = useSignal(start ?? 1);
  const found = device(deviceId).value;
  const day = useComputed(() => dayOf(cursor.at.value, style.value.zone));
  const playbacks = usePlaybacks(deviceId);
  const captures = useCaptures(deviceId);
  const footage = useFootage(deviceId);
  useEffect(() => {
    const abort = new AbortController();
    readRecordings(deviceId, day.value, abort.signal).catch(() => {});
    return () => abort.abort();
  }, [deviceId, day.value]);

  const listed = recordingsOf(deviceId, day.value);
  const cameras = useComputed(() => {
    const known = found ? camerasOf(found, position(deviceId).value) : [];
    return [...new Set([...known, ...listed.value.items.map((each) => each.channel)])].sort((a, b) => a - b);
  });
  const wanted = onCamera ? (chosen ?? 1) : own.value;
  const camera = cameras.value.includes(wanted) ? wanted : (cameras.value[0] ?? 1);
  const asked = film.asked.value;
  // What was asked for stays what it is while it plays.
  const inAsked = asked?.camera === camera && isIn(asked.span, cursor.at.value) && film.source.value !== null;
  const span = mark.value ?? (inAsked ? asked.span : around(cursor.at.value, now.value));

  function choose(next: number): boolean {
    if (!cameras.value.includes(next)) return false;
    if (onCamera) onCamera(next);
    else own.value = next;
    if (next !== camera) film.close();
    return true;
  }
  useSignalEffect(() => {
    const drawn = marked?.value;
    if (!drawn || !marked) return;
    marked.value = null;
    mark.value = whole(drawn.span);
    choose(cameraOf(drawn.lane) ?? camera);
  });
  useSignalEffect(() => {
    if (!lanes) return;
    const facts = {
      cameras: cameras.value,
      recordings: recordingsOf(deviceId, day.value).value.items,
      playbacks: playbacks.value,
      captures: captures.value.flatMap((capture) => {
        const { startTime, endTime } = capture;
        if (!startTime || !endTime) return [];
        return [{ capture, span: { from: Date.parse(startTime), to: Date.parse(endTime) } }];
      }),
      footage: footage.value,
      arrived: arrivedOf(film),
    };
    lanes.value = cameraLanes(facts, {
      text: t,
      watch: (each) => {
        choose(each);
        film.watch(each);
      },
      play: (capture, kept) => {
        choose(capture.channel);
        film.play(capture, kept);
      },
    });
  });

  const video = () => stage.current?.querySelector("video") ?? null;
  async function still(): Promise<void> {
    const element = video();
    const name = stillName(found?.name ?? "", camera, cursor.at.peek());
    if (!element || !(await saveStill(element, name))) toast(t("live.noStill"), "bad");
  }
  function begin(): void {
    const at = Math.floor(cursor.at.peek());
    mark.value = whole({ from: at, to: mark.peek() && span.to > at ? span.to : at + 60_000 });
  }
  function end(): void {
    const at = Math.ceil(cursor.at.peek());
    mark.value = whole({ from: mark.peek() && span.from < at ? span.from : at - 60_000, to: at });
  }
  function keep(): unknown {
    if (!may("video")) return false;
    film.keep.value = true;
    return document.getElementById(`fetch-${deviceId}`)?.click();
  }
  function toggleSound(): void {
    sound.value = !sound.peek();
  }
  const active = film.source.value !== null;
  useKeys("player", {
    // Elsewhere a digit begins a time.
    camera: (key) => (document.activeElement?.closest(".film") ? choose(Number(key)) : false),
    still: () => (active ? void still() : false),
    sound: () => (active ? toggleSound() : false),
    frameBack: () => (active ? step(-1) : false),
    frameOn: () => (active ? step(1) : false),
    begin,
    end,
    fullScreen: () => (active ? void fullScreen(stage.current) : false),
    keep,
  });
  function step(direction: -1 | 1): void {
    cursor.playing.value = false;
    film.player.peek()?.step(direction);
  }

  if (found && cameras.value.length === 0) return null;
  return (
    <section class="film" aria-label={t("film.title")}>
      <FilmStage stage={stage} film={film} camera={camera} sound={sound.value} />
      <div class="film-bar">
        <fieldset class="film-cameras">
          <legend class="hidden">{t("film.cameras")}</legend>
          {cameras.value.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === camera}
              aria-label={t("live.camera", { camera: each })}
              title={t("live.camera", { camera: each })}
              onClick={() => choose(each)}
            >
              {each}
            </button>
          ))}
        </fieldset>
        <time
          dateTime={new Date(cursor.at.value).toISOString()}
          title={dateTime(cursor.at.value, style.value)}
        >
          {clockSeconds(cursor.at.value, style.value)}
        </time>
        <span class="film-acts">
          <Act
            icon={cursor.playing.value ? "pause" : "play"}
            label={t(cursor.playing.value ? "film.pause" : "film.play")}
            run={() => {
              cursor.playing.value = !cursor.playing.value;
            }}
            disabled={!active}
          />
          <Act
            icon={sound.value ? "sound" : "silent"}
            label={t(sound.value ? "live.soundOff" : "live.soundOn")}
            run={toggleSound}
            disabled={!active}
          />
          <Act icon="still" label={t("live.still")} run={() => void still()} disabled={!active} />
          <Act
            icon="fullScreen"
            label={t("live.fullScreen")}
            run={() => void fullScreen(stage.current)}
            disabled={!active}
          />
        </span>
      </div>
      <FetchPanel
        key={camera}
        deviceId={deviceId}
        film={film}
        at={cursor.at.value}
        camera={camera}
        cameras={cameras.value}
        span={span}
        marked={mark.value !== null}
        onUnmark={() => {
          mark.value = null;
        }}
        day={day.value}
        captures={captures.value}
        footage={footage.value}
      />
    </section>
  );
}

function Act({
  icon,
  label,
  run,
  disabled,
}: {
  icon: "play" | "pause" | "sound" | "silent" | "still" | "fullScreen";
  label: string;
  run: () => void;
  disabled: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={run}
    >
      <Icon name={icon} size={18} />
    </button>
  );
}

function arrivedOf(film: Film): ReadonlyMap<number, readonly Span[]> {
  const source = film.source.value;
  const player = film.player.value;
  if (source?.kind !== "playback" || !player) return new Map();
  return new Map([[source.camera, player.arrived.value]]);
}

function isIn({ from, to }: Span, at: number): boolean {
  return at >= from && at < to;
}

/** The local day that holds an instant. */
function dayOf(at: number, zone: string): Span {
  return { from: startOfDay(at, zone), to: startOfDay(at, zone, 1) };
}

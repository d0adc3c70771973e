import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Capture } from "../../api/types";
import { duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { device, position } from "../../state/fleet";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import type { Cursor } from "../../time/cursor";
import type { Span } from "../../time/spans";
import { startOfDay } from "../../time/zones";
import type { Lane } from "../../timeline/lanes";
import { cameraLabel } from "../cameraNames";
import { camerasOf } from "../channels";
import { fullScreen } from "../Tile";
import { useStill } from "../useStill";
import { CameraClock } from "./CameraClock";
import { CompanionStage } from "./CompanionStage";
import { useCaptures } from "./captures";
import { clockOf } from "./clock";
import { FetchPanel } from "./FetchPanel";
import { FilmBar } from "./FilmBar";
import { FilmStage } from "./FilmStage";
import { around, whole } from "./fetch";
import { Film } from "./film";
import { useFootage } from "./footage";
import { KeptOfDay } from "./KeptOfDay";
import { cameraLanes, cameraOf } from "./lanes";
import { MOST_AT_ONCE } from "./playbackRate";
import { usePlaybacks } from "./playbacks";
import type { Source } from "./player";
import { readRecordings, recordingsOf } from "./recordings";
import { fileOf, heldSpan, playableAt, sourceAt } from "./sources";
import "./film.css";

export interface RecordedFilmProps {
  deviceId: number;
  cursor: Cursor;
  /** The cameras that are shown, the first with the clock; the vehicle's first where it has none of these. */
  shown?: readonly number[] | undefined;
  onShown?: ((cameras: readonly number[]) => void) | undefined;
  /** The camera that is shown first, where nothing chooses among them. */
  start?: number | undefined;
  /** Filled with the lanes of the cameras. */
  lanes?: Signal<readonly Lane[]> | undefined;
  /** A span that was marked on a lane. */
  marked?: Signal<{ lane: string; span: Span } | null> | undefined;
}

/** The film of a vehicle beside a cursor: what it has, what is fetched and what is kept, of one camera or of several at once. */
export function RecordedFilm(props: RecordedFilmProps) {
  const { deviceId, cursor } = props;
  const film = useMemo(() => new Film(deviceId, cursor), [deviceId, cursor]);
  useEffect(() => () => film.destroy(), [film]);
  // Another cursor, such as that of another day, begins without what was marked and computed for this one.
  return <Shown key={film.id} {...props} film={film} />;
}

type ShownProps = RecordedFilmProps & { film: Film };

function Shown({ deviceId, cursor, film, shown: chosen, onShown, start, lanes, marked }: ShownProps) {
  const stage = useRef<HTMLDivElement>(null);
  const sound = useSignal(false);
  const mark = useSignal<Span | null>(null);
  const own = useSignal<readonly number[]>([start ?? 1]);
  const playing = useRef(new Map<number, Source>());
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
  const wanted = ((onShown ? chosen : own.value) ?? []).filter((each) => cameras.value.includes(each));
  const [camera = cameras.value[0] ?? 1, ...others] = wanted.slice(0, MOST_AT_ONCE);
  const shown = [camera, ...others] as const;
  const several = others.length > 0;
  const asked = film.asked.value;
  // What was asked for stays what it is while it plays.
  const plays = film.source.value !== null && asked?.cameras.includes(camera) ? asked.span : null;
  const span =
    mark.value ?? (plays && isIn(plays, cursor.at.value) ? plays : around(cursor.at.value, now.value));

  const beside = others.map((each) => ({
    camera: each,
    source: sourceAt(
      each,
      cursor.at.value,
      { deviceId, clock: clockOf(found, each), captures: captures.value, playbacks: playbacks.value },
      playing.current.get(each) ?? null,
    ),
  }));
  playing.current = new Map(beside.flatMap(({ camera: each, source }) => (source ? [[each, source]] : [])));

  /** Show cameras, the first with the clock. What it played beside another one goes on. */
  function show(next: readonly number[]): void {
    const [first = camera] = next;
    if (onShown) onShown(next);
    else own.value = next;
    if (first === camera) return;
    const source = playing.current.get(first);
    if (source && film.source.peek()) film.take(source);
    else film.close();
  }
  function choose(next: number): boolean {
    if (!cameras.value.includes(next)) return false;
    show([next]);
    return true;
  }
  /** Give a camera the clock; those beside it stay. */
  function lead(next: number): void {
    if (several) show([next, ...shown.filter((each) => each !== next)].slice(0, MOST_AT_ONCE));
    else choose(next);
  }
  /** Show a camera beside the others, or no more. */
  function toggle(each: number): void {
    show(shown.includes(each) ? shown.filter((other) => other !== each) : [...shown, each]);
  }
  function toggleSeveral(): void {
    const rest = cameras.value.filter((each) => each !== camera);
    show(several ? [camera] : [camera, ...rest].slice(0, MOST_AT_ONCE));
  }
  /** Play a kept file, of whichever camera. */
  function playCapture(capture: Capture): void {
    const file = fileOf(capture, clockOf(device(deviceId).peek(), capture.channel));
    if (!file) return;
    lead(capture.channel);
    film.play(file);
  }
  /** What there is of the instant, of the camera in front before others. */
  function findKept(): (() => void) | null {
    for (const each of [camera, ...cameras.value.filter((other) => other !== camera)]) {
      const known = {
        deviceId,
        clock: clockOf(found, each),
        captures: captures.value,
        playbacks: playbacks.value,
      };
      const source = playableAt(each, cursor.at.value, known);
      if (!source) continue;
      return () => {
        lead(each);
        film.play(source);
      };
    }
    return null;
  }
  // What `Play` plays where no film leads.
  useEffect(() => {
    cursor.kept.value = cursor.led.peek() ? null : findKept();
  });
  useEffect(() => {
    return () => {
      cursor.kept.value = null;
    };
  }, [cursor]);
  useSignalEffect(() => {
    const drawn = marked?.value;
    if (!drawn || !marked) return;
    marked.value = null;
    mark.value = whole(drawn.span);
    lead(cameraOf(drawn.lane) ?? camera);
  });
  useSignalEffect(() => {
    if (!lanes) return;
    const facts = {
      cameras: cameras.value,
      clockOf: (each: number) => clockOf(device(deviceId).value, each),
      labelOf: (each: number) => cameraLabel(deviceId, each),
      recordings: recordingsOf(deviceId, day.value).value.items,
      playbacks: playbacks.value,
      captures: captures.value.flatMap((capture) => {
        const held = heldSpan(capture, clockOf(device(deviceId).value, capture.channel));
        return held ? [{ capture, span: held }] : [];
      }),
      footage: footage.value,
      arrived: arrivedOf(film),
    };
    lanes.value = cameraLanes(facts, {
      text: t,
      lengthOf: ({ from, to }) => duration(to - from, style.value),
      watch: (each) => {
        lead(each);
        film.watch(each);
      },
      play: playCapture,
    });
  });

  const video = () => stage.current?.querySelector("video") ?? null;
  const [takeStill, stillDialog] = useStill();
  const still = () =>
    takeStill(video(), { deviceId, vehicle: found?.name ?? "", camera, at: cursor.at.peek() });
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
      <div ref={stage} class="film-stages">
        <FilmStage film={film} camera={camera} sound={sound.value} clock={clockOf(found, camera)} />
        {beside.map(({ camera: each, source }) => (
          <CompanionStage
            key={each}
            film={film}
            cursor={cursor}
            camera={each}
            source={source}
            clock={clockOf(found, each)}
            onLead={() => lead(each)}
          />
        ))}
      </div>
      <FilmBar
        deviceId={deviceId}
        cursor={cursor}
        cameras={cameras.value}
        shown={shown}
        active={active}
        sound={sound}
        clock={active && <CameraClock deviceId={deviceId} camera={camera} />}
        onCamera={several ? toggle : choose}
        onSeveral={toggleSeveral}
        onStill={() => void still()}
        onFullScreen={() => void fullScreen(stage.current)}
      />
      <KeptOfDay
        deviceId={deviceId}
        captures={captures.value}
        day={day.value}
        onPlay={(capture, from) => {
          cursor.at.value = from;
          playCapture(capture);
        }}
      />
      <FetchPanel
        key={camera}
        deviceId={deviceId}
        film={film}
        at={cursor.at.value}
        camera={camera}
        shown={shown}
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
      {stillDialog}
    </section>
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

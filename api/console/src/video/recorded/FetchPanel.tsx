import { useSignal } from "@preact/signals";
import type { Capture, Footage, Playback } from "../../api/types";
import { clockSeconds, date, duration } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Check } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device } from "../../state/fleet";
import { may, session, style } from "../../state/session";
import type { Span } from "../../time/spans";
import { cameraNumber } from "../cameraNames";
import { AskRow } from "./AskRow";
import { CaptureLine } from "./CaptureLine";
import { begunOf } from "./captures";
import { clockOf, spanOfCamera } from "./clock";
import { askAtOnce, asksAtOnce } from "./concurrentCameras";
import { estimate } from "./estimate";
import { FootageLine } from "./FootageLine";
import type { Film } from "./film";
import { isOpen, requestFootage } from "./footage";
import { playbacksOf, readPlaybacks } from "./playbacks";
import { recordingsOf } from "./recordings";
import { heldSpan } from "./sources";

interface PanelProps {
  deviceId: number;
  film: Film;
  /** The instant that is looked at. */
  at: number;
  camera: number;
  /** Those that are shown at once, this one first. */
  shown: readonly [number, ...number[]];
  /** All of the vehicle. */
  cameras: readonly number[];
  /** What would be fetched. */
  span: Span;
  /** Whether the span was marked, or lies around the instant. */
  marked: boolean;
  onUnmark: () => void;
  /** The day of which the vehicle may be asked. */
  day: Span;
  captures: readonly Capture[];
  footage: readonly Footage[];
}

/** Fetches a span, and says before what it takes: who else watches, how much data, whether the vehicle is there. */
export function FetchPanel(props: PanelProps) {
  const { deviceId, film, at, camera, shown, span, day } = props;
  const foreign = useSignal<Playback | null>(null);
  const found = device(deviceId).value;
  const online = found?.status === "online";
  const listed = recordingsOf(deviceId, day).value;
  const atOnce = useSignal(asksAtOnce(deviceId));
  /** The span and the instant as a camera has them, whose clock may be off. */
  const spanOn = (each: number) => spanOfCamera(span, clockOf(found, each));
  const atOn = at - clockOf(found, camera);
  const costOf = (each: number) => estimate(listed.items, each, spanOn(each), listed.phase === "known");
  const cost = costOf(camera);
  const lines = props.captures.filter(
    (each) =>
      shown.includes(each.channel) &&
      !each.live &&
      (each.status === "RECORDING" || isNear(each, spanOn(each.channel), clockOf(found, each.channel))),
  );
  const wishes = props.footage.filter(
    (each) => shown.includes(each.channel) && (isOpen(each) || isAsked(each, spanOn(each.channel))),
  );

  async function fetch(endOthers = false): Promise<void> {
    foreign.value = null;
    const running = await readPlaybacks(deviceId).catch(() => []);
    const foreigners = running.filter(
      (each) => each.status !== "ENDED" && each.userId !== session.peek()?.id && shown.includes(each.channel),
    );
    const other = foreigners.find((each) => each.channel === camera);
    if (other && !endOthers) foreign.value = other;
    else {
      // What another user watches of the cameras beside this one is shown as it is.
      const beside = atOnce.peek()
        ? shown.slice(1).filter((each) => !foreigners.some(({ channel }) => channel === each))
        : [];
      await film.fetch([camera, ...beside], span, (each) => costOf(each).bytes);
      if (film.problem.peek() !== null) return;
      props.onUnmark();
      // Terminals send one recording at a time: the server takes the others in turn.
      const rest = props.cameras.filter((each) => each !== camera && !beside.includes(each));
      await request(film.others.peek() ? rest : []);
    }
  }
  async function request(cameras: readonly number[]): Promise<void> {
    try {
      for (const each of cameras) {
        await requestFootage(deviceId, each, spanOfCamera(span, clockOf(found, each), Date.now()));
      }
      if (cameras.length > 0) toast(t(online ? "film.requestedOthers" : "film.requested"));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
  }
  const own = playbacksOf(deviceId).value.find((each) => each.channel === camera);
  const canWatch =
    film.source.value === null && own && (own.seconds > 0 || own.status !== "ENDED") && isWithin(own, atOn);
  return (
    <div class="film-fetch">
      {film.problem.value ? <Problem problem={film.problem.value} /> : null}
      {may("video") && (
        <>
          <p class="film-span">
            <strong>
              {clockSeconds(span.from, style.value)} – {clockSeconds(span.to, style.value)}
            </strong>
            <span class="faint">{date(span.from, style.value)}</span>
            {props.marked && (
              <button
                type="button"
                class="icon-button"
                aria-label={t("film.unmark")}
                title={t("film.unmark")}
                onClick={props.onUnmark}
              >
                <Icon name="close" size={16} />
              </button>
            )}
          </p>
          <p class="faint">
            {[
              t(online ? "film.online" : "film.offline"),
              t("film.length", { length: duration(span.to - span.from, style.value) }),
              cost.bytes !== null && t("film.cost", { size: bytes(cost.bytes, style.value) }),
              cost.covered === 0 && t("film.notCovered", { camera: cameraNumber(deviceId, camera) }),
              t("film.audited"),
            ]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </>
      )}
      {foreign.value ? (
        <Foreign
          playback={foreign.value}
          onWatch={() => {
            foreign.value = null;
            film.watch(camera);
          }}
          onEnd={() => void fetch(true)}
          onCancel={() => {
            foreign.value = null;
          }}
        />
      ) : (
        <p class="button-row">
          {canWatch && (
            <button type="button" onClick={() => film.watch(camera)}>
              <Icon name="play" size={18} />
              {t("film.watch")}
            </button>
          )}
          {may("video") &&
            (online ? (
              <button
                id={`fetch-${deviceId}`}
                type="button"
                class="primary"
                disabled={film.asking.value}
                onClick={() => void fetch()}
              >
                <Icon name="camera" size={18} />
                {t("film.fetch")}
              </button>
            ) : (
              <button
                id={`fetch-${deviceId}`}
                type="button"
                class="primary"
                onClick={() => void request(film.others.peek() ? props.cameras : [camera])}
              >
                <Icon name="alarm" size={18} />
                {t("film.later")}
              </button>
            ))}
        </p>
      )}
      {lines.slice(0, 3).map((each) => (
        <CaptureLine key={each.id} capture={each} />
      ))}
      {wishes.slice(0, 3).map((each) => (
        <FootageLine key={each.id} request={each} />
      ))}
      {may("video") && (
        <>
          {online && (
            <Check
              label={t("film.keep")}
              checked={film.keep.value}
              onChange={(checked) => {
                film.keep.value = checked;
              }}
            />
          )}
          {online && shown.length > 1 && (
            <Check
              label={t("film.atOnce")}
              checked={atOnce.value}
              onChange={(checked) => {
                atOnce.value = checked;
                askAtOnce(deviceId, checked);
              }}
            />
          )}
          {props.cameras.length > 1 && (
            <Check
              label={t("film.others")}
              checked={film.others.value}
              onChange={(checked) => {
                film.others.value = checked;
              }}
            />
          )}
          <AskRow deviceId={deviceId} day={day} camera={camera} online={online} />
        </>
      )}
    </div>
  );
}

function Foreign({
  playback,
  onWatch,
  onEnd,
  onCancel,
}: {
  playback: Playback;
  onWatch: () => void;
  onEnd: () => void;
  onCancel: () => void;
}) {
  const time = (text: string | null) => (text ? clockSeconds(Date.parse(text), style.value) : "?");
  return (
    <div class="film-foreign" role="alert">
      <p>
        {t("film.foreign", {
          name: playback.userName ?? t("film.anotherUser"),
          camera: cameraNumber(playback.deviceId, playback.channel),
          from: time(playback.startTime),
          to: time(playback.endTime),
        })}
      </p>
      <p class="button-row">
        <button type="button" onClick={onWatch}>
          {t("film.watchAlong")}
        </button>
        <button type="button" class="dangerous" onClick={onEnd}>
          {t("film.endForeign")}
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          {t("common.cancel")}
        </button>
      </p>
    </div>
  );
}

/** The span that a capture holds, else the one that was asked for. */
function spanOf(capture: Capture, clock: number): Span | null {
  return heldSpan(capture, clock) ?? begunOf(capture.id) ?? null;
}

function isNear(capture: Capture, { from, to }: Span, clock: number): boolean {
  const span = spanOf(capture, clock);
  return span !== null && span.from < to && span.to > from;
}

function isAsked(request: Footage, { from, to }: Span): boolean {
  return Date.parse(request.startTime) < to && Date.parse(request.endTime) > from;
}

function isWithin(playback: Playback, at: number): boolean {
  if (!playback.startTime || !playback.arrivedTo) return false;
  return at >= Date.parse(playback.startTime) && at < Date.parse(playback.arrivedTo);
}

import { useEffect, useRef } from "preact/hooks";
import { clockSeconds } from "../../format/times";
import { t } from "../../i18n/translate";
import { sentence } from "../../parts/Problem";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { cameraLabel, cameraNumber } from "../cameraNames";
import type { Film } from "./film";
import type { RecordedPlayer } from "./player";
import { statusText } from "./statusText";

interface StageProps {
  film: Film;
  camera: number;
  sound: boolean;
  /** By how much its clock is off, in milliseconds. */
  clock: number;
}

/** The picture, with what is to be said of it. */
export function FilmStage({ film, camera, sound, clock }: StageProps) {
  const video = useRef<HTMLVideoElement>(null);
  const source = film.source.value;
  const asking = film.asking.value;
  const sent = film.sent.value;
  const silent = !sound || sent > 1;
  useEffect(() => {
    if (source && video.current) return film.attach(video.current, source);
    return undefined;
  }, [film, source]);
  useEffect(() => {
    if (video.current) video.current.muted = silent;
  }, [silent, source]);
  const player = film.player.value;
  useEffect(() => player?.setClock(clock), [player, clock]);
  const title = cameraLabel(film.deviceId, camera);
  return (
    <div class={source ? "film-stage" : "film-stage idle"}>
      {source ? (
        <video ref={video} muted={silent} playsInline title={title} />
      ) : (
        <p class="film-words">{t(asking ? "film.asking" : "film.none")}</p>
      )}
      {player && sent > 1 && <p class="film-sent">{t("film.sent", { rate: sent })}</p>}
      {player && <Words film={film} player={player} camera={camera} />}
    </div>
  );
}

function Words({ film, player, camera }: { film: Film; player: RecordedPlayer; camera: number }) {
  const asked = film.asked.value;
  const moving = film.moving.value;
  const phase = player.phase.value;
  const ofFile = film.source.value?.kind === "file";
  const saying = statusText(phase, {
    camera: cameraNumber(film.deviceId, camera),
    arrived: player.arrived.value.length > 0,
    seconds: ofFile ? null : Math.max(0, Math.floor((now.value - (asked?.at ?? now.value)) / 1000)),
    away: film.away.value,
    moving: moving === null ? null : clockSeconds(moving, style.value),
  });
  if (!saying) return null;
  const text =
    phase.name === "refused" && phase.status > 0
      ? sentence({ status: phase.status, text: phase.text, retryAfter: null })
      : t(saying.key, saying.values);
  return (
    <p
      class={`film-words ${saying.tone}`}
      role="status"
      aria-live={saying.tone === "wait" ? "off" : "polite"}
    >
      {text}
    </p>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { Cursor } from "../../time/cursor";
import { cameraNumber } from "../cameraNames";
import { Companion } from "./companion";
import type { Film } from "./film";
import type { Source } from "./player";
import { keyOf } from "./sources";
import { statusText } from "./statusText";

interface StageProps {
  film: Film;
  cursor: Cursor;
  camera: number;
  /** What is there of the camera at the cursor, or null. */
  source: Source | null;
  /** By how much its clock is off, in milliseconds. */
  clock: number;
  /** Give the camera the clock. */
  onLead: () => void;
}

/** The picture of another camera at the same time. */
export function CompanionStage({ film, cursor, camera, source, clock, onLead }: StageProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [companion, setCompanion] = useState<Companion | null>(null);
  // Each player that waits holds one of the browser's few connections: those of the others wait for the first.
  const begun = (film.player.value?.arrived.value.length ?? 0) > 0;
  const key = source && begun ? keyOf(source) : null;
  useEffect(() => {
    if (key === null || !source || !video.current) return undefined;
    const made = new Companion(source, video.current, film, cursor);
    setCompanion(made);
    return () => {
      setCompanion(null);
      made.destroy();
    };
  }, [key, film, cursor]);
  useEffect(() => companion?.player.setClock(clock), [companion, clock]);
  const number = cameraNumber(film.deviceId, camera);
  return (
    <div class="film-stage film-companion">
      <video ref={video} muted playsInline />
      <Words companion={companion} camera={number} />
      <button
        type="button"
        aria-label={t("film.lead", { camera: number })}
        title={t("film.lead", { camera: number })}
        onClick={onLead}
      >
        {camera}
      </button>
    </div>
  );
}

function Words({ companion, camera }: { companion: Companion | null; camera: string }) {
  const arrived = (companion?.player.arrived.value.length ?? 0) > 0;
  const saying = companion
    ? statusText(companion.player.phase.value, {
        camera,
        arrived,
        seconds: null,
        away: companion.away.value && arrived,
        moving: null,
      })
    : { key: "film.nothingNow" as const, values: {}, tone: "wait" };
  return saying && <p class={`film-words ${saying.tone}`}>{t(saying.key, saying.values)}</p>;
}

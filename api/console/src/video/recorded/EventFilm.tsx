import { useEffect, useMemo } from "preact/hooks";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Problem } from "../../parts/Problem";
import { loadDevice } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { makeCursor, toggle } from "../../time/cursor";
import { AFTER_MS, BEFORE_MS } from "./fetch";
import { FASTEST_SENT } from "./playbackRate";
import { RecordedFilm } from "./RecordedFilm";

interface EventFilmProps {
  deviceId: number;
  /** The instant of the event, in milliseconds since 1970. */
  at: number;
  /** The camera that is shown first; the vehicle's first without it. */
  channel?: number | undefined;
  /** Called with each instant that the picture shows, such as for a marker on a map. */
  onAt?: (at: number) => void;
}

/** The film around an instant: what is kept of it, what the vehicle has, and what can be fetched. */
export function EventFilm({ deviceId, at, channel, onAt }: EventFilmProps) {
  const cursor = useMemo(() => makeCursor({ from: at - BEFORE_MS, to: at + AFTER_MS }, at), [deviceId, at]);
  const read = useLoaded(`film ${deviceId}`, (signal) => loadDevice(deviceId, signal));
  const move = (seconds: number) => {
    cursor.at.value = cursor.at.peek() + seconds * 1000;
  };
  useKeys("player", {
    pause: () => {
      if (!cursor.led.peek() && !cursor.kept.peek()) return false;
      toggle(cursor);
      return true;
    },
    back5: () => move(-5),
    on5: () => move(5),
    back60: () => move(-60),
    on60: () => move(60),
    slower: () => {
      cursor.rate.value = Math.max(0.25, cursor.rate.peek() / 2);
    },
    faster: () => {
      cursor.rate.value = Math.min(FASTEST_SENT, cursor.rate.peek() * 2);
    },
  });
  useEffect(() => (onAt ? cursor.at.subscribe(onAt) : undefined), [cursor, onAt]);
  if (read.problem) return <Problem problem={read.problem} onRetry={read.reload} />;
  if (!read.value) return <p class="hidden">{t("common.loading")}</p>;
  return <RecordedFilm key={`${deviceId} ${at}`} deviceId={deviceId} cursor={cursor} start={channel} />;
}

import type { Capture } from "../../api/types";
import { clockSeconds, duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { device } from "../../state/fleet";
import { style } from "../../state/session";
import type { Span } from "../../time/spans";
import { cameraLabel } from "../cameraNames";
import { clockOf, spanShown } from "./clock";
import { fileOf } from "./sources";

interface KeptProps {
  deviceId: number;
  captures: readonly Capture[];
  day: Span;
  onPlay: (capture: Capture, from: number) => void;
}

/** What is kept of a day, in the order of time; a press plays it. */
export function KeptOfDay({ deviceId, captures, day, onPlay }: KeptProps) {
  const found = device(deviceId).value;
  const files = captures
    .flatMap((capture) => {
      const clock = clockOf(found, capture.channel);
      const file = fileOf(capture, clock);
      return file ? [{ capture, ...spanShown(file, clock) }] : [];
    })
    .filter(({ from, to }) => from < day.to && to > day.from)
    .sort((one, other) => one.from - other.from);
  if (files.length === 0) return null;
  return (
    <section class="film-kept" aria-label={t("film.keptOfDay")}>
      <h3>{t("film.keptOfDay")}</h3>
      <ul>
        {files.map(({ capture, from, to }) => (
          <li key={capture.id}>
            <button type="button" onClick={() => onPlay(capture, from)}>
              <Icon name="play" size={16} />
              <span>{cameraLabel(deviceId, capture.channel)}</span>
              <time dateTime={new Date(from).toISOString()}>{clockSeconds(from, style.value)}</time>
              <span class="faint">{duration(to - from, style.value)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { clockSeconds, dateTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon, type IconName } from "../../parts/Icon";
import { style } from "../../state/session";
import { type Cursor, toggle } from "../../time/cursor";
import { cameraLabel, cameraName } from "../cameraNames";
import { MOST_AT_ONCE } from "./playbackRate";

interface BarProps {
  deviceId: number;
  cursor: Cursor;
  /** All of the vehicle. */
  cameras: readonly number[];
  /** Those that are shown, the first with the clock. */
  shown: readonly number[];
  /** Whether something plays, or could. */
  active: boolean;
  sound: Signal<boolean>;
  /** What moves the clock of the camera that is in front. */
  clock: ComponentChildren;
  /** A camera was clicked: it is shown alone, or beside the others where several are shown. */
  onCamera: (camera: number) => void;
  onSeveral: () => void;
  onStill: () => void;
  onFullScreen: () => void;
}

/** What is below the picture: cameras, the instant, and what can be done with it. */
export function FilmBar({ deviceId, cursor, cameras, shown, active, sound, clock, ...on }: BarProps) {
  const several = shown.length > 1;
  const plays = cursor.playing.value;
  return (
    <div class="film-bar">
      <fieldset class="film-cameras">
        <legend class="hidden">{t("film.cameras")}</legend>
        {cameras.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={shown.includes(each)}
            aria-label={cameraLabel(deviceId, each)}
            title={cameraLabel(deviceId, each)}
            disabled={several && !shown.includes(each) && shown.length >= MOST_AT_ONCE}
            onClick={() => on.onCamera(each)}
          >
            {cameraName(deviceId, each) ?? each}
          </button>
        ))}
        {cameras.length > 1 && (
          <button
            type="button"
            aria-pressed={several}
            aria-label={t("film.several")}
            title={t("film.several")}
            onClick={on.onSeveral}
          >
            <Icon name="wall" size={18} />
          </button>
        )}
      </fieldset>
      <time dateTime={new Date(cursor.at.value).toISOString()} title={dateTime(cursor.at.value, style.value)}>
        {clockSeconds(cursor.at.value, style.value)}
      </time>
      {clock}
      <span class="film-acts">
        <Act
          icon={plays ? "pause" : "play"}
          label={t(plays ? "film.pause" : "film.play")}
          run={() => toggle(cursor)}
          disabled={!active && cursor.kept.value === null}
        />
        <Act
          icon={sound.value ? "sound" : "silent"}
          label={t(sound.value ? "live.soundOff" : "live.soundOn")}
          run={() => {
            sound.value = !sound.peek();
          }}
          disabled={!active}
        />
        <Act icon="still" label={t("live.still")} run={on.onStill} disabled={!active} />
        <Act icon="fullScreen" label={t("live.fullScreen")} run={on.onFullScreen} disabled={!active} />
      </span>
    </div>
  );
}

interface ActProps {
  icon: IconName;
  label: string;
  run: () => void;
  disabled: boolean;
}

function Act({ icon, label, run, disabled }: ActProps) {
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

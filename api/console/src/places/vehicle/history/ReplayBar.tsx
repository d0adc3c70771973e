import { clockSeconds, date } from "../../../format/times";
import { speed } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { type Track, whereabouts } from "../../../map/track";
import { Icon, type IconName } from "../../../parts/Icon";
import { style } from "../../../state/session";
import type { Cursor } from "../../../time/cursor";
import type { Span } from "../../../time/spans";
import { RATES, step, togglePlaying } from "./replay";

const MINUTE = 60_000;

/** Plays the span again: pause, speed, a minute back and on, and what the vehicle did at the cursor. */
export function ReplayBar({ track, cursor, span }: { track: Track | undefined; cursor: Cursor; span: Span }) {
  const at = cursor.at.value;
  const where = track && whereabouts(track, at);
  const plays = cursor.playing.value;
  return (
    <fieldset class="replay">
      <legend class="hidden">{t("history.replay")}</legend>
      <Act
        icon={plays ? "pause" : "play"}
        label={t(plays ? "history.pause" : "history.play")}
        act={() => togglePlaying(cursor, span)}
      />
      <button type="button" class="quiet" onClick={() => step(cursor, -MINUTE, span)}>
        {t("history.minuteBack")}
      </button>
      <button type="button" class="quiet" onClick={() => step(cursor, MINUTE, span)}>
        {t("history.minuteOn")}
      </button>
      <select
        aria-label={t("history.rate")}
        value={String(cursor.rate.value)}
        onChange={(event) => {
          cursor.rate.value = Number(event.currentTarget.value);
        }}
      >
        {RATES.map((rate) => (
          <option key={rate} value={String(rate)}>
            {rate}×
          </option>
        ))}
      </select>
      <p class="replay-now">
        <time dateTime={new Date(at).toISOString()}>
          <span class="replay-day">{date(at, style.value)}</span>{" "}
          <strong>{clockSeconds(at, style.value)}</strong>
        </time>
        <span class="replay-speed">
          {where ? (where.stale ? t("history.noFix") : speed(where.speed, style.value)) : t("history.before")}
        </span>
      </p>
    </fieldset>
  );
}

function Act({ icon, label, act }: { icon: IconName; label: string; act: () => void }) {
  return (
    <button type="button" class="primary icon-act" aria-label={label} title={label} onClick={act}>
      <Icon name={icon} size={18} />
    </button>
  );
}

import { useState } from "preact/hooks";
import type { Style } from "../format/style";
import { date, timeRange } from "../format/times";
import { t } from "../i18n/translate";
import { parseTime } from "../time/parseTime";
import { instantText, neighbor, resolveSpan, type SpanText, wider } from "../time/spans";
import { browserZone } from "../time/zones";
import { Field } from "./Field";
import { Icon, type IconName } from "./Icon";
import { SpanPicker } from "./SpanPicker";
import { hasTouch } from "./touch";

interface TimeFieldProps {
  label: string;
  value: SpanText;
  now: number;
  style: Style;
  onSpan: (span: SpanText) => void;
  /** A moment was typed; without it a moment becomes the hour around it. */
  onMoment?: (at: number) => void;
}

const HALF_HOUR = 1_800_000;

/** A span by words, presets and arrows, with its time zone beside it; by pickers in place of words for fingers. */
export function TimeField({ label, value, now, style, onSpan, onMoment }: TimeFieldProps) {
  const [text, setText] = useState<string | null>(null);
  const [wrong, setWrong] = useState(false);
  const span = resolveSpan(value, now, style.zone);

  function enter(event: Event) {
    event.preventDefault();
    if (text === null) return;
    const typed = parseTime(text, now, style.zone);
    setWrong(typed === null);
    if (typed === null) return;
    setText(null);
    if (typed.kind === "span") onSpan({ from: typed.from, to: typed.to });
    else if (onMoment) onMoment(typed.at);
    else onSpan(around(typed.at));
  }

  const presets: [string, SpanText][] = [
    [t("time.hours", { count: 1 }), { from: "now-1h", to: "now" }],
    [t("time.hours", { count: 8 }), { from: "now-8h", to: "now" }],
    [t("time.today"), { from: "now/d", to: "now" }],
    [t("time.yesterday"), { from: "now-1d/d", to: "now-1d/d" }],
    [t("time.week"), { from: "now/w", to: "now" }],
    [t("time.lastWeek"), { from: "now-1w/w", to: "now-1w/w" }],
  ];
  const chosen = presets.findIndex(([, preset]) => preset.from === value.from && preset.to === value.to);
  const foreign = style.zone !== browserZone();
  return (
    <form class="time-field" onSubmit={enter}>
      {hasTouch ? (
        <SpanPicker label={label} span={span} zone={style.zone} onSpan={onSpan} />
      ) : (
        <Field
          label={label}
          placeholder={t("time.placeholder")}
          value={text ?? (span ? spanText(span.from, span.to, now, style) : "")}
          error={wrong ? t("time.unknown") : undefined}
          onFocus={(event) => event.currentTarget.select()}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setWrong(false);
          }}
          onBlur={() => {
            if (!wrong) setText(null);
          }}
        />
      )}
      <div class="button-row">
        <SpanButton
          icon="back"
          label={t("time.before")}
          act={span && (() => onSpan(neighbor(span, style.zone, -1)))}
        />
        <SpanButton
          icon="next"
          label={t("time.after")}
          act={span && (() => onSpan(neighbor(span, style.zone, 1)))}
        />
        <SpanButton icon="wide" label={t("time.wider")} act={span && (() => onSpan(wider(span)))} />
        <select
          aria-label={t("time.presets")}
          value={chosen < 0 ? "" : String(chosen)}
          onChange={(event) => {
            const preset = presets[Number(event.currentTarget.value)];
            if (event.currentTarget.value !== "" && preset) onSpan(preset[1]);
          }}
        >
          <option value="">{t("time.presets")}</option>
          {presets.map(([name], index) => (
            <option key={name} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
        <span
          class={foreign ? "zone foreign" : "zone"}
          title={t(foreign ? "common.zoneOther" : "common.zone", { zone: style.zone })}
        >
          {style.zone.replace(/_/g, " ")}
        </span>
      </div>
    </form>
  );
}

function SpanButton({ icon, label, act }: { icon: IconName; label: string; act: (() => void) | null }) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      disabled={!act}
      onClick={() => act?.()}
    >
      <Icon name={icon} />
    </button>
  );
}

function around(at: number): SpanText {
  return { from: instantText(at - HALF_HOUR), to: instantText(at + HALF_HOUR) };
}

/** A whole day as its date, anything else as two times. */
export function spanText(from: number, to: number, now: number, style: Style): string {
  const day = resolveSpan({ from: "now/d", to: "now/d" }, from, style.zone);
  if (day && day.from === from && day.to === to) return date(from, style);
  return timeRange(from, to, now, style);
}

import { t } from "../i18n/translate";
import { Icon } from "../parts/Icon";
import { style } from "../state/session";
import { type Block, FIRST_BLOCK } from "./blocks";
import "./calendars.css";
import { TimesFields } from "./TimesFields";

interface BlockFieldsProps {
  blocks: readonly Block[];
  /** The fewest that may be left. */
  least?: number;
  onChange: (blocks: readonly Block[]) => void;
  disabled?: boolean;
}

/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1, 12);
const DAY = 86_400_000;

/** The days of the week from Monday, as the reader's language writes them. */
export function weekdays(look: "short" | "long" = "short"): readonly string[] {
  const format = new Intl.DateTimeFormat(style.value.language, { weekday: look, timeZone: "UTC" });
  return Array.from({ length: 7 }, (_, day) => format.format(MONDAY + day * DAY));
}

/** Blocks of days and times, of which several make lunch breaks and shifts. */
export function BlockFields({ blocks, onChange, least = 1, disabled = false }: BlockFieldsProps) {
  const names = weekdays();
  const whole = weekdays("long");
  const change = (index: number, part: Partial<Block>) =>
    onChange(blocks.map((block, at) => (at === index ? { ...block, ...part } : block)));
  return (
    <div class="calendar-blocks">
      {blocks.map(({ days, from, to }, index) => (
        <fieldset key={index} class="calendar-block" disabled={disabled}>
          <legend class="hidden">{t("calendar.block", { number: index + 1 })}</legend>
          <div class="chips">
            {names.map((name, day) => (
              <button
                key={name}
                type="button"
                class="chip"
                title={whole[day] ?? name}
                aria-pressed={days.includes(day)}
                onClick={() =>
                  change(index, {
                    days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day].sort(),
                  })
                }
              >
                {name}
              </button>
            ))}
          </div>
          <TimesFields from={from} to={to} onChange={(times) => change(index, times)} />
          {blocks.length > least && (
            <button
              type="button"
              class="icon-button"
              aria-label={t("calendar.removeBlock")}
              title={t("calendar.removeBlock")}
              onClick={() => onChange(blocks.filter((_, at) => at !== index))}
            >
              <Icon name="close" size={16} />
            </button>
          )}
        </fieldset>
      ))}
      {!disabled && (
        <button type="button" class="quiet" onClick={() => onChange([...blocks, FIRST_BLOCK])}>
          <Icon name="plus" size={16} />
          {t("calendar.addBlock")}
        </button>
      )}
    </div>
  );
}

import { t } from "../i18n/translate";
import { Field, Select } from "../parts/Field";
import { Icon } from "../parts/Icon";
import { now } from "../time/clock";
import { localText } from "../time/local";
import type { Exception } from "./blocks";
import "./calendars.css";
import { TimesFields } from "./TimesFields";

interface ExceptionFieldsProps {
  exceptions: readonly Exception[];
  /** In which today is. */
  zone: string;
  /** Whether there are blocks that a day could be without. */
  closable: boolean;
  onChange: (exceptions: readonly Exception[]) => void;
  disabled?: boolean;
}

/** Days that are not as the blocks of the week say: closed, or with times of their own. */
export function ExceptionFields(props: ExceptionFieldsProps) {
  const { exceptions, zone, closable, onChange, disabled = false } = props;
  const change = (index: number, part: Partial<Exception>) =>
    onChange(exceptions.map((each, at) => (at === index ? { ...each, ...part } : each)));
  const times = { from: "09:00", to: "17:00" };
  return (
    <div class="calendar-blocks">
      {exceptions.map(({ date, open }, index) => (
        <fieldset key={index} class="calendar-block" disabled={disabled}>
          <legend class="hidden">{t("calendar.exception", { number: index + 1 })}</legend>
          <Field
            type="date"
            label={t("calendar.day")}
            value={date}
            required
            onInput={(event) => change(index, { date: event.currentTarget.value })}
          />
          <Select
            label={t("calendar.dayIs")}
            value={open ? "open" : "closed"}
            disabled={disabled}
            choices={[
              ...(closable || !open ? [{ value: "closed", label: t("calendar.closed") }] : []),
              { value: "open", label: t("calendar.otherTimes") },
            ]}
            onChange={(value) => change(index, { open: value === "open" ? times : null })}
          />
          {open && (
            <TimesFields {...open} onChange={(part) => change(index, { open: { ...open, ...part } })} />
          )}
          <button
            type="button"
            class="icon-button"
            aria-label={t("calendar.removeException", { number: index + 1 })}
            title={t("calendar.removeException", { number: index + 1 })}
            onClick={() => onChange(exceptions.filter((_, at) => at !== index))}
          >
            <Icon name="close" size={16} />
          </button>
        </fieldset>
      ))}
      {!disabled && (
        <button
          type="button"
          class="quiet"
          onClick={() =>
            onChange([
              ...exceptions,
              { date: localText(now.peek(), zone).slice(0, 10), open: closable ? null : times },
            ])
          }
        >
          <Icon name="plus" size={16} />
          {t("calendar.addException")}
        </button>
      )}
    </div>
  );
}

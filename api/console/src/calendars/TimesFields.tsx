import { t } from "../i18n/translate";
import { Field } from "../parts/Field";

interface TimesFieldsProps {
  /** Times of the day, such as `09:00`. */
  from: string;
  to: string;
  onChange: (part: { from: string } | { to: string }) => void;
}

/** When something opens and closes on a day. */
export function TimesFields({ from, to, onChange }: TimesFieldsProps) {
  return (
    <>
      <Field
        type="time"
        label={t("time.from")}
        value={from}
        required
        onInput={(event) => onChange({ from: event.currentTarget.value })}
      />
      <Field
        type="time"
        label={t("time.to")}
        value={to}
        required
        onInput={(event) => onChange({ to: event.currentTarget.value })}
      />
    </>
  );
}

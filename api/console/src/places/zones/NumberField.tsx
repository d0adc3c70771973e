import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";

interface NumberFieldProps {
  label: string;
  /** Null is shown as empty. */
  value: number | null;
  least: number;
  most: number;
  /** Called with numbers within the bounds, and with null for an empty field where `optional`. */
  onChange: (value: number | null) => void;
  optional?: boolean;
  placeholder?: string;
  disabled?: boolean;
}

/** A number that is typed; what is no number says so and changes nothing. */
export function NumberField({ label, value, least, most, onChange, optional, ...rest }: NumberFieldProps) {
  const [text, setText] = useState(textOf(value));
  const read = readNumber(text);
  // What is typed stays as it is, as long as it means the value.
  useEffect(() => {
    if (read !== value) setText(textOf(value));
  }, [value]);
  const isGood = text.trim() === "" ? optional : read !== null && read >= least && read <= most;
  return (
    <Field
      label={label}
      inputMode="decimal"
      autocomplete="off"
      value={text}
      error={isGood || (text === "" && value === null) ? undefined : t("zone.badNumber", { least, most })}
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const number = readNumber(typed);
        if (typed.trim() === "") {
          if (optional) onChange(null);
        } else if (number !== null && number >= least && number <= most) onChange(number);
      }}
      {...rest}
    />
  );
}

/** A number with a point or a comma; null for anything else. */
export function readNumber(text: string): number | null {
  const number = /^\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)\s*$/.test(text)
    ? Number(text.replace(",", "."))
    : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

function textOf(value: number | null): string {
  return value === null ? "" : String(Number(value.toFixed(6)));
}

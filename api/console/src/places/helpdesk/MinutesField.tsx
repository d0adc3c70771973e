import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { NumberField } from "../zones/NumberField";
import { minutesOf, partsOf, type Unit } from "./minutes";

interface MinutesFieldProps {
  label: string;
  /** 0 is shown as empty. */
  value: number;
  /** What an empty field means. */
  none: string;
  error?: string | undefined;
  disabled: boolean;
  onChange: (minutes: number) => void;
}

/** Minutes in a year of 365 days: the most that the server takes. */
const MOST = 525_600;

/** An amount of business time, in minutes or hours. */
export function MinutesField({ label, value, none, error, disabled, onChange }: MinutesFieldProps) {
  const [unit, setUnit] = useState<Unit>(() => partsOf(value).unit);
  const count = value === 0 ? null : value / (unit === "hours" ? 60 : 1);
  return (
    <div class="helpdesk-minutes">
      <NumberField
        label={label}
        value={count}
        least={0}
        most={Math.floor(unit === "hours" ? MOST / 60 : MOST)}
        optional
        placeholder={none}
        disabled={disabled}
        onChange={(given) => onChange(minutesOf(given ?? 0, unit))}
      />
      <select
        aria-label={t("helpdesk.unitOf", { label })}
        value={unit}
        disabled={disabled}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Unit;
          setUnit(chosen);
          // What is typed keeps its number: "4" becomes 4 hours.
          if (count !== null) onChange(minutesOf(count, chosen));
        }}
      >
        <option value="minutes">{t("helpdesk.minutes")}</option>
        <option value="hours">{t("helpdesk.hours")}</option>
      </select>
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

import { t } from "../i18n/translate";
import { Picker } from "../parts/Picker";
import { read, useLoaded } from "../state/responseCache";

interface ZonePickerProps {
  /** Empty: none of its own. */
  value: string;
  onChange: (zone: string) => void;
  noneLabel?: string;
  disabled?: boolean;
}

/** A time zone, by its name in the tz database. */
export function ZonePicker({ value, onChange, noneLabel, disabled = false }: ZonePickerProps) {
  const zones = useLoaded("time zones", () => read<readonly string[]>("/server/timezones")).value ?? [];
  // One that the server does not list is shown all the same.
  const all = value && !zones.includes(value) ? [value, ...zones] : zones;
  return (
    <Picker
      label={t("calendar.zone")}
      items={all.map((zone) => ({ id: zone, name: zone.replace(/_/g, " ") }))}
      value={value || null}
      disabled={disabled}
      {...(noneLabel !== undefined && { noneLabel })}
      onChange={(zone) => onChange(String(zone ?? ""))}
    />
  );
}

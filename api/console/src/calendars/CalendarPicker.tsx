import { useState } from "preact/hooks";
import type { Calendar } from "../api/types";
import { t } from "../i18n/translate";
import { Picker } from "../parts/Picker";
import { read, useLoaded } from "../state/responseCache";
import { may } from "../state/session";
import { CalendarDialog } from "./CalendarDialog";
import "./calendars.css";
import { WeekPicture } from "./DaysPicture";
import { zoneOf } from "./zoneOf";

interface CalendarPickerProps {
  label: string;
  /** 0: none. */
  value: number;
  /** What no calendar means; without it one has to be chosen. */
  noneLabel?: string;
  /** What a new one is called at first. */
  name?: string;
  /** In which times without a zone are read, such as that of a company; that of the server without it. */
  zone?: string;
  error?: string | undefined;
  disabled?: boolean;
  onChange: (id: number) => void;
}

/** A choice of a calendar, with its week; one can be made and edited on the spot. */
export function CalendarPicker(props: CalendarPickerProps) {
  const { label, value, noneLabel, name = "", zone = "", error, disabled = false, onChange } = props;
  const calendars = useLoaded("calendars", () => read<readonly Calendar[]>("/calendars"));
  const [edited, setEdited] = useState<Calendar | "new" | null>(null);
  const all = calendars.value ?? [];
  const chosen = all.find(({ id }) => id === value);
  const items = all.map((each) => ({ id: each.id, name: each.name }));
  // One that others chose and that the reader does not see stays what it is.
  if (value && calendars.value && !chosen)
    items.unshift({ id: value, name: t("calendar.hidden", { id: value }) });
  return (
    <div class="calendar-picker">
      <Picker
        label={label}
        items={items}
        value={value || null}
        disabled={disabled}
        {...(noneLabel !== undefined && { noneLabel })}
        onChange={(id) => onChange(Number(id ?? 0))}
      />
      {may("edit") && (
        <div class="button-row">
          {chosen && (
            <button type="button" class="link" disabled={disabled} onClick={() => setEdited(chosen)}>
              {t("record.edit", { name: chosen.name })}
            </button>
          )}
          <button type="button" class="link" disabled={disabled} onClick={() => setEdited("new")}>
            {t("calendar.new")}
          </button>
        </div>
      )}
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      {(chosen || (value === 0 && noneLabel !== undefined && zone)) && (
        <WeekPicture
          label={chosen?.name ?? noneLabel ?? ""}
          calendar={chosen ? readIn(chosen, zone) : null}
          zone={chosen ? zoneOf(chosen, zone) : zone}
        />
      )}
      {edited && (
        <CalendarDialog
          calendar={edited === "new" ? null : edited}
          name={name}
          zone={zone}
          onClose={() => setEdited(null)}
          onSaved={(saved) => {
            setEdited(null);
            calendars.reload();
            onChange(saved.id);
          }}
        />
      )}
    </div>
  );
}

/** A calendar whose times are read in a zone unless it names another. */
export function readIn({ data, attributes }: Calendar, zone: string): Pick<Calendar, "data" | "attributes"> {
  return { data, attributes: zone ? { timezone: zone, ...attributes } : attributes };
}

import { CalendarPicker } from "../../calendars/CalendarPicker";
import { speedIn, speedSign } from "../../format/units";
import { t } from "../../i18n/translate";
import { Check, Field } from "../../parts/Field";
import { style } from "../../state/session";
import type { Editing } from "./editing";
import { NumberField } from "./NumberField";

const MOST_SPEED = 500;
const FIRST_COLOR = "#0b6b63";

/** Color, speed limit, calendar and description. */
export function ZoneRules({ editing, disabled }: { editing: Editing; disabled: boolean }) {
  const { calendarId, description, attributes } = editing.record.value;
  const color = colorOf(attributes.color);
  const knots =
    typeof attributes.speedLimit === "number" && attributes.speedLimit > 0 ? attributes.speedLimit : null;
  const factor = speedIn(1, style.value);
  return (
    <>
      <div class="zone-color">
        <Check
          label={t("zone.ownColor")}
          checked={color !== null}
          disabled={disabled}
          onChange={(on) => editing.setAttribute("color", on ? FIRST_COLOR : undefined)}
        />
        {color !== null && (
          <input
            type="color"
            aria-label={t("zone.color")}
            value={color}
            disabled={disabled}
            onInput={(event) => editing.setAttribute("color", event.currentTarget.value)}
          />
        )}
      </div>
      <NumberField
        label={t("zone.speedLimit", { unit: speedSign(style.value) })}
        value={knots === null ? null : Math.round(knots * factor * 10) / 10}
        least={1}
        most={MOST_SPEED}
        optional
        placeholder={t("zone.noLimit")}
        disabled={disabled}
        onChange={(value) => editing.setAttribute("speedLimit", value === null ? undefined : value / factor)}
      />
      <CalendarPicker
        label={t("zone.calendar")}
        value={calendarId}
        noneLabel={t("zone.always")}
        name={editing.record.value.name}
        disabled={disabled}
        onChange={(id) => editing.set({ calendarId: id })}
      />
      <p class="field-hint">{t("zone.calendarHint")}</p>
      <Field
        label={t("zone.description")}
        value={description ?? ""}
        disabled={disabled}
        onInput={(event) => editing.set({ description: event.currentTarget.value || null })}
      />
    </>
  );
}

/** As a color field takes it, `#rrggbb`; another color of the zone is shown as black. */
function colorOf(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  return /^#[0-9a-f]{6}$/i.test(value) ? value : "#000000";
}

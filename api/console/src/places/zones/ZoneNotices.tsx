import { get } from "../../api/call";
import { hasText, t } from "../../i18n/translate";
import { Check } from "../../parts/Field";
import { useLoaded } from "../../state/responseCache";
import type { Crossing, Editing } from "./editing";

const CROSSINGS: readonly Crossing[] = ["geofenceEnter", "geofenceExit"];

/** Whether the reader is notified of vehicles that enter or leave, and by what. */
export function ZoneNotices({ editing, disabled }: { editing: Editing; disabled: boolean }) {
  const offered = useLoaded("notificators", (signal) =>
    get<{ type: string }[]>("/notifications/notificators", undefined, signal),
  );
  const notices = editing.notices.value;
  const { types, notificators } = notices;
  const names = [...new Set(["web", ...(offered.value ?? []).map(({ type }) => type), ...notificators])];
  const switched = <T,>(list: readonly T[], item: T, on: boolean): T[] =>
    on ? [...list, item] : list.filter((each) => each !== item);
  return (
    <>
      {CROSSINGS.map((type) => (
        <Check
          key={type}
          label={t(`zone.${type}`)}
          checked={types.includes(type)}
          disabled={disabled}
          onChange={(on) => {
            editing.notices.value = { ...notices, types: switched(types, type, on) };
          }}
        />
      ))}
      {types.length > 0 && (
        <fieldset class="chips">
          <legend>{t("zone.by")}</legend>
          {names
            .filter((name) => name !== "command" || notificators.includes(name))
            .map((name) => (
              <button
                key={name}
                type="button"
                class="chip"
                aria-pressed={notificators.includes(name)}
                // Without any there would be nothing to be notified by.
                disabled={disabled || (notificators.length === 1 && notificators[0] === name)}
                onClick={() => {
                  const on = !notificators.includes(name);
                  editing.notices.value = { ...notices, notificators: switched(notificators, name, on) };
                }}
              >
                {wordOf(name)}
              </button>
            ))}
        </fieldset>
      )}
      <p class="field-hint">{t("zone.notifyHint")}</p>
    </>
  );
}

function wordOf(name: string): string {
  const key = `zone.by${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return hasText(key) ? t(key) : name;
}

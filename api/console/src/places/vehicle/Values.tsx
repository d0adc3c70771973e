import { useState } from "preact/hooks";
import type { Position } from "../../api/types";
import { attributeText, spaced } from "../../format/attributes";
import { hasText, t } from "../../i18n/translate";
import { style } from "../../state/session";
import { alarmName } from "../events/kinds";

/** Shown first, in this order, where the device sends them. */
export const FIRST: readonly string[] = [
  "alarm",
  "ignition",
  "batteryLevel",
  "power",
  "fuelLevel",
  "fuel",
  "odometer",
  "totalDistance",
  "hours",
];
const FEW = 6;
/** What other parts of the page show, or only programs need. */
export const HIDDEN: ReadonlySet<string> = new Set(["motion", "distance", "raw", "result", "alarmLabel"]);

/** The values that came with a position; all of them on demand. */
export function Values({ of }: { of: Position }) {
  const [all, setAll] = useState(false);
  const names = Object.keys(of.attributes).filter((name) => !HIDDEN.has(name));
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  if (names.length === 0) return null;
  const shown = all ? names : names.slice(0, FEW);
  return (
    <section class="values">
      <h2>{t("vehicle.values")}</h2>
      <dl class="facts">
        {shown.map((name) => (
          <div key={name}>
            <dt>{labelOf(name)}</dt>
            <dd>{valueText(name, of.attributes[name])}</dd>
          </div>
        ))}
      </dl>
      {names.length > FEW && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {t(all ? "vehicle.fewerValues" : "vehicle.allValues")}
        </button>
      )}
    </section>
  );
}

/** The name of a value; of what the page does not know, `fuelPercent` is shown as `Fuel percent`. */
export function labelOf(name: string): string {
  const key = `value.${name}`;
  return hasText(key) ? t(key) : spaced(name);
}

/** A value as people read it; alarms by their names. */
export function valueText(name: string, value: unknown): string {
  if (name !== "alarm" || typeof value !== "string") {
    return attributeText(name, value, style.value, t("common.yes"), t("common.no"));
  }
  return value
    .split(",")
    .map((alarm) => alarmName(alarm.trim()))
    .join(", ");
}

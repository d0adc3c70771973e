import { useState } from "preact/hooks";
import type { Position } from "../../api/types";
import { attributeText } from "../../format/attributes";
import { hasText, t } from "../../i18n/translate";
import { style } from "../../state/session";

/** Shown first, in this order, where the device sends them. */
const FIRST = [
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
const HIDDEN = new Set(["motion", "distance", "raw", "result"]);

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
            <dd>{attributeText(name, of.attributes[name], style.value, t("common.yes"), t("common.no"))}</dd>
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

function labelOf(name: string): string {
  const key = `value.${name}`;
  return hasText(key) ? t(key) : name;
}

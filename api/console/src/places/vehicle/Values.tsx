import { useState } from "preact/hooks";
import type { Position } from "../../api/types";
import { attributeWords } from "../../format/attributeWords";
import { compareNames, t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { style } from "../../state/session";
import { cameraNumber } from "../../video/cameraNames";

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
/** What other parts of the page show. */
export const HIDDEN: ReadonlySet<string> = new Set(["motion", "distance", "result"]);

/** The values that came with a position; all of them on demand. */
export function Values({ of }: { of: Position }) {
  const [all, setAll] = useState(false);
  const words = attributeWords();
  if (!words) return <Skeleton label={t("common.loading")} />;
  const { attributeName, attributeText, shownKeys } = words;
  const names = shownKeys(of).filter((name) => !HIDDEN.has(name));
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  names.sort((a, b) => rank(a) - rank(b) || compareNames(attributeName(a), attributeName(b)));
  if (names.length === 0) return null;
  const shown = all ? names : names.slice(0, FEW);
  return (
    <section class="values">
      <h2>{t("vehicle.values")}</h2>
      <dl class="facts">
        {shown.map((name) => (
          <div key={name}>
            <dt>{attributeName(name)}</dt>
            <dd>{attributeText(name, of, style.value, (camera) => cameraNumber(of.deviceId, camera))}</dd>
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

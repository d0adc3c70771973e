import { useState } from "preact/hooks";
import type { Position } from "../../api/types";
import { attributeName, attributeText, shownKeys } from "../../format/attributes";
import { coordinates } from "../../format/coordinates";
import { clockSeconds, utc } from "../../format/times";
import { speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { style } from "../../state/session";
import { cameraNumber } from "../../video/cameraNames";
import { FIRST, HIDDEN } from "../vehicle/Values";
import { type Around, isPlace, valueNames } from "./proof";

/** Values of a position that are shown at first; changed ones come before others. */
const FEW = 7;
/** They are shown themselves. */
const FILES: ReadonlySet<string> = new Set(["image", "video", "audio"]);

/** The values of the position of an event, beside the positions before and after it. */
export function ProofValues({ around }: { around: Around }) {
  const { before, then, after } = around;
  const [all, setAll] = useState(false);
  if (!before && !then && !after) return null;
  const shown = new Set([before, then, after].flatMap((each) => (each ? shownKeys(each) : [])));
  const names = valueNames(around, FIRST).filter(
    (name) => shown.has(name) && !HIDDEN.has(name) && !FILES.has(name),
  );
  const rows: [string, (position: Position) => string][] = [
    [t("event.time"), (each) => clockSeconds(Date.parse(each.fixTime), style.value)],
    [t("event.speed"), (each) => speed(each.speed, style.value)],
    [
      t("vehicle.place"),
      (each) => (isPlace(each) ? coordinates(each.latitude, each.longitude, style.value) : t("fleet.noFix")),
    ],
    ...(then?.address ? [[t("vehicle.address"), addressOf] as [string, typeof addressOf]] : []),
    ...(all ? names : names.slice(0, FEW)).map((name): [string, (position: Position) => string] => [
      attributeName(name),
      (each) => shownText(name, each),
    ]),
  ];
  return (
    <section class="proof-values" aria-label={t("event.values")}>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{t("event.before")}</th>
            <th scope="col">{t("event.then")}</th>
            <th scope="col">{t("event.after")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, read]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {[before, then, after].map((position, index) => (
                <td
                  key={["before", "then", "after"][index]}
                  class={index === 1 ? "then" : ""}
                  title={position ? utc(Date.parse(position.fixTime)) : ""}
                >
                  {position ? read(position) : "–"}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {names.length > FEW && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {t(all ? "vehicle.fewerValues" : "vehicle.allValues")}
        </button>
      )}
    </section>
  );
}

function addressOf({ address }: Position): string {
  return address ?? "";
}

function shownText(name: string, of: Position): string {
  if ((of.attributes[name] ?? null) === null) return "–";
  return attributeText(name, of, style.value, (camera) => cameraNumber(of.deviceId, camera));
}

import { coordinates } from "../../format/coordinates";
import { dateTime, duration } from "../../format/times";
import { speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { position } from "../../state/fleet";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { usePlace } from "../fleet/place";
import "./whereabouts.css";

/** How fast a vehicle is, where, and how old that is, in a line. */
export function Whereabouts({ deviceId }: { deviceId: number }) {
  const at = position(deviceId).value;
  const known = usePlace(deviceId);
  if (!at) return <p class="whereabouts">{t("fleet.noPlace")}</p>;
  const fixed = Date.parse(at.fixTime);
  const age = now.value - fixed;
  const place = known ?? coordinates(at.latitude, at.longitude, style.value);
  return (
    <p class="whereabouts">
      <strong>{speed(at.speed, style.value)}</strong>
      <span class="whereabouts-place" translate={false} title={place}>
        {place}
      </span>
      <time class="faint" dateTime={at.fixTime} title={dateTime(fixed, style.value)}>
        {age < 2000 ? t("common.justNow") : t("common.ago", { span: duration(age, style.value) })}
      </time>
    </p>
  );
}

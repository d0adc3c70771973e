import { coordinates } from "../../format/coordinates";
import { dateTime, duration } from "../../format/times";
import { speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { position } from "../../state/fleet";
import { style } from "../../state/session";
import { useZones } from "../../state/zones";
import { now } from "../../time/clock";

/** How fast a vehicle is, where, and how old that is, in a line. */
export function Whereabouts({ deviceId }: { deviceId: number }) {
  const at = position(deviceId).value;
  const inZone = (at?.geofenceIds?.length ?? 0) > 0;
  const zones = useZones(inZone && !at?.address);
  if (!at) return <p class="whereabouts">{t("fleet.noPlace")}</p>;
  const fixed = Date.parse(at.fixTime);
  const age = now.value - fixed;
  const zone = zones?.find(({ id }) => at.geofenceIds?.includes(id))?.name;
  const place = zone ?? (at.address || coordinates(at.latitude, at.longitude, style.value));
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

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Position } from "../../../api/types";
import { compassPoint, coordinates } from "../../../format/coordinates";
import { dateTime, duration, utc } from "../../../format/times";
import { altitude, speed } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { fixOf, indexAt, type Track } from "../../../map/track";
import { Skeleton } from "../../../parts/Late";
import { read } from "../../../state/responseCache";
import { style } from "../../../state/session";
import type { Cursor } from "../../../time/cursor";
import { Values } from "../Values";

/** How long the cursor must rest before values are read. */
const REST_MS = 250;

/** What the vehicle had reported at the cursor. */
export function Moment({ track, cursor }: { track: Track; cursor: Cursor }) {
  const at = cursor.at.value;
  const index = indexAt(track, at);
  const id = index < 0 ? null : (track.id[index] ?? null);
  const found = usePosition(id);
  if (id === null) return <p class="faint">{t("history.before")}</p>;
  const fix = fixOf(track, index);
  const of = found?.id === id ? found : null;
  return (
    <div class="moment">
      <dl class="facts">
        <Fact label={t("history.fix")}>
          <time dateTime={new Date(fix.at).toISOString()} title={utc(fix.at)}>
            {dateTime(fix.at, style.value)}
          </time>
          {at - fix.at > 1000 && (
            <small> {t("history.earlier", { span: duration(at - fix.at, style.value) })}</small>
          )}
        </Fact>
        <Fact label={t("history.speed")}>{speed(fix.speed, style.value)}</Fact>
        {fix.speed > 0 && (
          <Fact label={t("vehicle.course")}>
            {t(`compass.${compassPoint(fix.course)}`)} · {Math.round(fix.course)}°
          </Fact>
        )}
        {of && <Fact label={t("vehicle.place")}>{coordinates(of.latitude, of.longitude, style.value)}</Fact>}
        {of?.address && <Fact label={t("vehicle.address")}>{of.address}</Fact>}
        {of && of.altitude !== 0 && (
          <Fact label={t("vehicle.altitude")}>{altitude(of.altitude, style.value)}</Fact>
        )}
      </dl>
      {of ? <Values of={of} /> : <Skeleton label={t("common.loading")} />}
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A stored position, once the cursor rests; the one of before until then. */
function usePosition(id: number | null): Position | null {
  const [found, setFound] = useState<Position | null>(null);
  useEffect(() => {
    if (id === null) return undefined;
    let gone = false;
    const timer = setTimeout(() => {
      read<Position[]>("/positions", { id }).then(
        ([position]) => {
          if (!gone && position) setFound(position);
        },
        // What the track knows is shown.
        () => {},
      );
    }, REST_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [id]);
  return found;
}

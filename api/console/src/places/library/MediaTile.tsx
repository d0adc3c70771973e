import { useState } from "preact/hooks";
import type { Media } from "../../api/types";
import { clockTime, date, dayTime, duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { style } from "../../state/session";
import { cameraLabel } from "../../video/cameraNames";
import { lengthOf } from "./library";
import { iconOf, vehicleOf, whatOf } from "./words";

/** An entry as a picture with what it is below; opens it. */
export function MediaTile({ item, onOpen }: { item: Media; onOpen: () => void }) {
  const [missing, setMissing] = useState(false);
  const length = lengthOf(item);
  // It stands below the day on which it came; what it shows may be of another one.
  const at = Date.parse(item.startTime ?? item.time);
  const isOfDay = date(at, style.value) === date(Date.parse(item.time), style.value);
  return (
    <button type="button" class="media-tile" onClick={onOpen}>
      <span class="media-picture">
        {item.pictureUrl && !missing ? (
          <img src={item.pictureUrl} alt="" loading="lazy" onError={() => setMissing(true)} />
        ) : (
          <Icon name={iconOf(item)} size={36} />
        )}
        {item.playUrl && (
          <span class="media-play">
            <Icon name="play" size={16} />
            {length !== null && duration(length, style.value)}
          </span>
        )}
        {(item.kept || item.inTicket) && (
          <span class="media-kept">{t(item.inTicket ? "library.inTicket" : "library.kept")}</span>
        )}
      </span>
      <strong>{vehicleOf(item)}</strong>
      <span class={item.alarm ? "media-alarm" : "faint"}>{whatOf(item)}</span>
      <span class="faint">
        <time dateTime={new Date(at).toISOString()}>{(isOfDay ? clockTime : dayTime)(at, style.value)}</time>
        {item.channel !== null && ` · ${cameraLabel(item.deviceId, item.channel)}`}
      </span>
    </button>
  );
}

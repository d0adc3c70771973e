import { coordinates } from "../../format/coordinates";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { go, location, withQuery } from "../../router";
import { style } from "../../state/session";
import { queryWithout } from "./MapMenu";
import type { ShownPlace } from "./shownPlace";

/** Names the place that is marked on the map, until it is closed. */
export function PlaceBar({ place }: { place: ShownPlace }) {
  const { name, latitude, longitude } = place;
  const label = t("common.close");
  return (
    <div class="measure-bar place-bar">
      <Icon name="pin" size={18} />
      <p role="status">
        <strong>{name || coordinates(latitude, longitude, style.value)}</strong>
      </p>
      <button
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        onClick={() => go(withQuery(location.peek().path, queryWithout("place", "placeName")))}
      >
        <Icon name="close" size={18} />
      </button>
    </div>
  );
}

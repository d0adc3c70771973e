import { useEffect, useState } from "preact/hooks";
import type { FoundPlace } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { location } from "../../router";
import { findPlaces, SEARCH_MS } from "../../state/places";
import { server, style } from "../../state/session";
import { placeAddress } from "./shownPlace";
import { readView } from "./view";

const MOST_PLACES = 3;

interface Found {
  text: string;
  places: readonly FoundPlace[];
  /** Whether addresses were looked for. */
  addresses: boolean;
  problem: unknown;
}

const NOTHING: Found = { text: "", places: [], addresses: false, problem: null };

/** The towns whose name begins with what is searched for, and by a button the addresses that fit; each on the map. */
export function FoundPlaces({ keyword }: { keyword: string }) {
  const [found, setFound] = useState(NOTHING);
  const wanted = keyword.trim();
  const search = async (addresses: boolean, signal?: AbortSignal) => {
    const near = readView(location.peek().query.get("at"));
    const show = (places: readonly FoundPlace[], problem: unknown) => {
      if (!signal?.aborted) setFound({ text: wanted, places, addresses, problem });
    };
    await findPlaces(wanted, near, { addresses, limit: MOST_PLACES, signal }).then(
      (places) => show(places, null),
      // Towns are an addition: a search of vehicles does not fail with them.
      (problem: unknown) => show([], addresses ? problem : null),
    );
  };
  useEffect(() => {
    if (wanted === "") {
      setFound(NOTHING);
      return undefined;
    }
    const running = new AbortController();
    const timer = setTimeout(() => void search(false, running.signal), SEARCH_MS);
    return () => {
      clearTimeout(timer);
      running.abort();
    };
  }, [wanted]);

  const asks = Boolean(server.value?.geocoderEnabled) && wanted.length > 2;
  const isCurrent = found.text === wanted;
  if (wanted === "" || (found.places.length === 0 && !asks)) return null;
  return (
    <ul class="fleet-zones fleet-places" aria-label={t("fleet.places")}>
      {found.places.map((place) => (
        <li key={`${place.name} ${place.latitude} ${place.longitude}`}>
          <Link to={placeAddress(place)}>
            <Icon name="pin" size={16} />
            <span>{placeName(place)}</span>
          </Link>
        </li>
      ))}
      {asks && !(isCurrent && found.addresses) && (
        <li>
          <button type="button" class="plain" onClick={() => void search(true)}>
            <Icon name="search" size={16} />
            <span>{t("fleet.findAddress", { text: wanted })}</span>
          </button>
        </li>
      )}
      {isCurrent && found.addresses && found.places.length === 0 && (
        <li class="fleet-no-place" role="status">
          {found.problem === null ? t("fleet.noAddress") : sentenceOf(found.problem)}
        </li>
      )}
    </ul>
  );
}

/** `Springfield, United States`; of an address what the geocoder wrote. */
export function placeName({ name, country }: FoundPlace): string {
  if (!country) return name;
  const countries = new Intl.DisplayNames([style.value.language, "en"], { type: "region" });
  return `${name}, ${countries.of(country) ?? country}`;
}

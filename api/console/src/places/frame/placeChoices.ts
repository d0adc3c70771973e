/** Towns that the palette leads to. */

import { t } from "../../i18n/translate";
import type { Choice } from "../../keys/Palette";
import { go } from "../../router";
import { findPlaces } from "../../state/places";
import { placeName } from "../fleet/FoundPlaces";
import { placeAddress } from "../fleet/shownPlace";

const MOST_PLACES = 3;

/** The choices of the towns whose name begins with a text. */
export async function placeChoices(text: string, signal: AbortSignal): Promise<Choice[]> {
  const found = await findPlaces(text, null, { limit: MOST_PLACES, signal });
  return found.map((place) => ({
    id: `place ${place.latitude} ${place.longitude}`,
    name: placeName(place),
    note: t("map.place"),
    run: () => go(placeAddress(place)),
  }));
}

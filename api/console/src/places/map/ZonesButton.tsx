import { t } from "../../i18n/translate";
import { MapButton } from "./MapButton";
import { showNextZones, zonesShown } from "./zonesShown";

const LABELS = { all: "map.hideZoneNames", shapes: "map.hideZones", none: "map.showZones" } as const;

/** Switches zones on maps: with names, without them, not at all. */
export function ZonesButton() {
  const shown = zonesShown.value;
  return <MapButton icon="zone" label={t(LABELS[shown])} pressed={shown !== "none"} act={showNextZones} />;
}

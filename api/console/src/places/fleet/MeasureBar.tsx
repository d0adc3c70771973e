import { distance } from "../../format/units";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Icon } from "../../parts/Icon";
import { style } from "../../state/session";

/** Below this many meters a length is in meters. */
const SHORT = 1000;

interface MeasureBarProps {
  meters: number;
  onBack: () => void;
  onEnd: () => void;
}

/** How long the line is that the reader lays over the map. */
export function MeasureBar({ meters, onBack, onEnd }: MeasureBarProps) {
  useKeys("vehicle", { back: onEnd });
  return (
    <div class="measure-bar">
      <Icon name="measure" size={18} />
      <p role="status">
        <strong>{lengthText(meters)}</strong> {t("map.measureHint")}
      </p>
      <button type="button" disabled={meters === 0} onClick={onBack}>
        {t("common.undo")}
      </button>
      <button type="button" class="primary" onClick={onEnd}>
        {t("map.endMeasure")}
      </button>
    </div>
  );
}

/** Meters as `840 m` or `12.4 km`; readers of miles have them from the beginning. */
export function lengthText(meters: number): string {
  const isMetric = style.value.distanceUnit === "km";
  return isMetric && meters < SHORT ? `${Math.round(meters)} m` : distance(meters, style.value);
}

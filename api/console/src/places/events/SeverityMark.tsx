import type { Event } from "../../api/types";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import "./severity.css";

/** How severe an event is: a shape, a color and a word. */
export function SeverityMark({ of }: { of: Pick<Event, "severity"> }) {
  if (of.severity !== "CRITICAL" && of.severity !== "WARNING") return null;
  const critical = of.severity === "CRITICAL";
  return (
    <span class={`severity ${critical ? "critical" : "warning"}`}>
      <Icon name={critical ? "critical" : "warning"} size={18} />
      {t(`review.severity.${of.severity}`)}
    </span>
  );
}

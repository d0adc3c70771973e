import type { Geofence } from "../../api/types";
import { number } from "../../format/units";
import { t } from "../../i18n/translate";
import { readArea } from "../../map/area";
import { style } from "../../state/session";

interface ZoneRowProps {
  zone: Geofence;
  to: string;
  chosen: boolean;
  current: boolean;
  onOpen: (address: string) => void;
}

/** A zone of the list. */
export function ZoneRow({ zone, to, chosen, current, onOpen }: ZoneRowProps) {
  return (
    <a
      href={to}
      class={`zone-row${chosen ? " chosen" : ""}${current ? " current" : ""}`}
      aria-current={chosen ? "true" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        onOpen(to);
      }}
    >
      <span class="zone-swatch" style={{ backgroundColor: colorOf(zone) }} />
      <span class="zone-row-name">{zone.name}</span>
      <span class="zone-row-kind">{kindOf(zone)}</span>
    </a>
  );
}

function kindOf({ area }: Geofence): string {
  const shape = readArea(area);
  if (!shape) return t("zone.unreadable");
  const word = t(`zone.${shape.kind}`);
  return shape.kind === "circle" ? `${word} · ${number(shape.radius, 0, style.value)} m` : word;
}

function colorOf({ attributes }: Geofence): string {
  return typeof attributes.color === "string" && attributes.color ? attributes.color : "var(--accent)";
}

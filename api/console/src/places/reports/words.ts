/** Names that rows of reports need besides what they say themselves. */

import type { Event } from "../../api/types";
import { attributeName, capitalized } from "../../format/attributes";
import type { Style } from "../../format/style";
import { date } from "../../format/times";
import { hasText, t } from "../../i18n/translate";
import { deviceNow } from "../../state/fleet";
import { eventText } from "../events/eventText";
import type { Group, Names } from "./kinds";

/** Names for a reader; `zones` are those by number that the reader may see. */
export function namesFor(zones: ReadonlyMap<number, string>, look: Style): Names {
  return {
    device: nameOfVehicle,
    zone: (id) => zones.get(id) ?? t("report.zoneNumber", { id }),
    event: (event: Event) => eventText(event, zones, look),
    attribute: (key) => capitalized(attributeName(key)),
    state: (status) => {
      const key = `report.status.${status}`;
      return hasText(key) ? t(key) : status;
    },
  };
}

function nameOfVehicle(id: number): string {
  return deviceNow(id)?.name ?? t("report.vehicleNumber", { id });
}

/** What a group is called. */
export function groupName(group: Group, key: string | number, look: Style): string {
  if (group === "device") return nameOfVehicle(Number(key));
  if (group === "driver") return String(key) || t("report.noDriver");
  return date(Number(key), look);
}

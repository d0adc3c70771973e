/** What rows of the list of vehicles show besides name and status: a preference of the user. */

import { computed } from "@preact/signals";
import type { Device, Group, Position } from "../../api/types";
import { attributeWords } from "../../format/attributeWords";
import { t } from "../../i18n/translate";
import { session, style } from "../../state/session";
import { cameraNumber } from "../../video/cameraNames";

/** The attribute of the user, a list of names of columns. */
export const COLUMNS_ATTRIBUTE = "console.fleetColumns";
const OF_VEHICLE = ["number", "group", "model", "phone", "contact", "address"] as const;
const OF_POSITION = ["ignition", "batteryLevel", "power", "fuelLevel", "fuel", "odometer"] as const;

export type Column = (typeof OF_VEHICLE)[number] | (typeof OF_POSITION)[number];
/** All that can be chosen, in the order in which they are shown. */
export const COLUMNS: readonly Column[] = [...OF_VEHICLE, ...OF_POSITION];
const DEFAULT: readonly Column[] = [];

/** The columns of an attribute; none where it is no list. */
export function columnsOf(attribute: unknown): readonly Column[] {
  if (!Array.isArray(attribute)) return DEFAULT;
  return COLUMNS.filter((each) => attribute.includes(each));
}

/** Those of the reader. */
export const columns = computed(() => columnsOf(session.value?.attributes[COLUMNS_ATTRIBUTE]));

export function columnLabel(column: Column): string {
  return isOfVehicle(column) ? t(`vehicle.${column}`) : (attributeWords()?.attributeName(column) ?? "");
}

/** What a column says of a vehicle, or an empty text. */
export function columnText(
  column: Column,
  of: Device,
  at: Position | undefined,
  groups: readonly Group[] | null,
): string {
  switch (column) {
    case "number":
      return of.uniqueId;
    case "group":
      return groups?.find((each) => each.id === of.groupId)?.name ?? "";
    case "address":
      return at?.address ?? "";
    case "model":
    case "phone":
    case "contact":
      return of[column] ?? "";
    default: {
      const words = at?.attributes[column] === undefined ? null : attributeWords();
      return at && words
        ? `${words.attributeName(column)} ${words.attributeText(column, at, style.value, (camera) => cameraNumber(at.deviceId, camera))}`
        : "";
    }
  }
}

function isOfVehicle(column: Column): column is (typeof OF_VEHICLE)[number] {
  return (OF_VEHICLE as readonly Column[]).includes(column);
}

/** What entries of the library are called. */

import type { Media } from "../../api/types";
import { t } from "../../i18n/translate";
import type { IconName } from "../../parts/Icon";
import { device } from "../../state/fleet";
import { style } from "../../state/session";
import { eventText } from "../events/eventText";

const ICONS: Record<Media["kind"], IconName> = {
  capture: "camera",
  film: "camera",
  photo: "still",
  still: "still",
  sound: "sound",
  file: "download",
};

export function iconOf({ kind }: Media): IconName {
  return ICONS[kind];
}

export function vehicleOf({ deviceId }: Media): string {
  return device(deviceId).value?.name ?? String(deviceId);
}

/** The alarm that a file was sent for, or its kind: `Phone in hand`, `Photo`. */
export function whatOf(item: Media): string {
  return item.alarm ? eventText(item.alarm, new Map(), style.value) : t(`library.kind.${item.kind}`);
}

/** What a vehicle does, and since when or how fast, in a line. */

import type { Device, DeviceMotion, Position } from "../../api/types";
import type { Style } from "../../format/style";
import { duration } from "../../format/times";
import { speed } from "../../format/units";
import { t } from "../../i18n/translate";
import { hasPlace } from "./filters";
import { heardAt, isMoving, vehicleState } from "./vehicleState";

interface Facts {
  device: Pick<Device, "status" | "lastUpdate">;
  position: Position | undefined;
  /** Since when it moves or stands; undefined until that is known. */
  motion: DeviceMotion | undefined;
  now: number;
  style: Style;
}

/** Such as `Standing · 2 h 10 min`, or `Last heard 5 min ago · was moving 19 km/h`. */
export function stateText({ device, position, motion, now, style }: Facts): string {
  const state = vehicleState(device, position, now);
  const word = t(`status.${state}`);
  switch (state) {
    case "never":
      return word;
    case "offline":
      return `${word} · ${t("common.ago", { span: duration(now - Date.parse(device.lastUpdate ?? ""), style) })}`;
    case "silent":
      return lastHeard(device, position, now, style);
    default:
      if (!position) return `${word} · ${t("fleet.noPlace")}`;
      if (!position.valid || !hasPlace(position)) return `${word} · ${t("fleet.noFix")}`;
      if (state === "moving") return `${word} · ${speed(position.speed, style)}`;
      // A stop is known only some minutes after it began; until then there is no time to tell.
      return motion && !motion.moving ? `${word} · ${duration(now - Date.parse(motion.since), style)}` : word;
  }
}

/** When a vehicle was last heard of, and whether it moved then. */
export function lastHeard(
  { lastUpdate, status }: Facts["device"],
  position: Position | undefined,
  now: number,
  style: Style,
): string {
  // While its device is online, it is the position that is old.
  const at = status === "online" && position ? heardAt(position) : Date.parse(lastUpdate ?? "");
  const span = duration(now - at, style);
  return position && isMoving(position)
    ? t("fleet.lastHeardMoving", { span, speed: speed(position.speed, style) })
    : t("fleet.lastHeard", { span });
}

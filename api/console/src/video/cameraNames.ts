/** Names of cameras: the attribute `cameras` of a device, else of its groups or the server (docs/devices.md#cameras). */

import type { Device } from "../api/types";
import { type Key, t } from "../i18n/translate";
import { changeAttribute } from "../state/deviceAttributes";
import { device, wantDevice } from "../state/fleet";
import { groupsAbove } from "../state/groups";
import { server } from "../state/session";

export const CAMERAS = "cameras";
/** What the server takes (api/engine/camera_name_attributes.py). */
export const MOST_CHARACTERS = 40;

/** Channels that mean the same in all terminals of JT/T 808: what they send with alarms of the driving assistance. */
const USUAL: Readonly<Record<number, Key>> = { 64: "live.roadCamera", 65: "live.driverCamera" };

type Attributes = Device["attributes"] | undefined;

/** The name that a record gives to a camera, or null. */
export function nameIn(attributes: Attributes, camera: number): string | null {
  const names: unknown = attributes?.[CAMERAS];
  if (typeof names !== "object" || names === null) return null;
  const name = (names as Record<string, unknown>)[String(camera)];
  return typeof name === "string" && name.trim() !== "" ? name : null;
}

/** The name that a camera has without one of its device. */
export function inheritedName(groupId: number, camera: number): string | null {
  for (const { attributes } of groupsAbove(groupId)) {
    const name = nameIn(attributes, camera);
    if (name) return name;
  }
  const usual = USUAL[camera];
  return nameIn(server.value?.attributes, camera) ?? (usual === undefined ? null : t(usual));
}

/** The name of a camera, or null; followed as devices and groups become known. */
export function cameraName(deviceId: number, camera: number): string | null {
  wantDevice(deviceId);
  const found = device(deviceId).value;
  return nameIn(found?.attributes, camera) ?? inheritedName(found?.groupId ?? 0, camera);
}

/** What a camera is called where it stands alone: `front`, else `Camera 2`. */
export function cameraLabel(deviceId: number, camera: number): string {
  return cameraName(deviceId, camera) ?? t("live.camera", { camera });
}

/** A camera of a vehicle: `Van 12, front`, else `Van 12, camera 2`. */
export function cameraOf(deviceId: number, camera: number): string {
  const vehicle = device(deviceId).value?.name || `#${deviceId}`;
  const name = cameraName(deviceId, camera);
  return name ? `${vehicle}, ${name}` : t("live.of", { name: vehicle, camera });
}

/** What stands after the word "camera": `2 (front)`, else `2`. */
export function cameraNumber(deviceId: number, camera: number): string {
  const name = cameraName(deviceId, camera);
  return name ? `${camera} (${name})` : String(camera);
}

/** Call a camera by another name; by none with an empty one. Throws a `Problem`. */
export function renameCamera(deviceId: number, camera: number, name: string): Promise<void> {
  return changeAttribute(deviceId, CAMERAS, ({ attributes }) => renamed(attributes, camera, name));
}

/** The names of the attributes with another one; undefined where none is left. */
export function renamed(
  attributes: Attributes,
  camera: number,
  name: string,
): Record<string, string> | undefined {
  const before: unknown = attributes?.[CAMERAS];
  const { [String(camera)]: _, ...others } =
    ((typeof before === "object" ? before : null) as Record<string, string> | null) ?? {};
  const text = name.trim();
  const names = text ? { ...others, [String(camera)]: text } : others;
  return Object.keys(names).length > 0 ? names : undefined;
}

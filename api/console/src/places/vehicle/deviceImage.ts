/** The picture of a vehicle, which its attributes name (docs/devices.md). Pure. */

import type { Device } from "../../api/types";

export const IMAGE = "deviceImage";

/** Where the picture is; null if there is none. */
export function imageOf({ uniqueId, attributes }: Pick<Device, "uniqueId" | "attributes">): string | null {
  const name = attributes[IMAGE];
  if (typeof name !== "string" || name === "") return null;
  return `/api/media/${encodeURIComponent(uniqueId)}/${encodeURIComponent(name)}`;
}

/** The cameras of a vehicle. */

import type { Device, Position } from "../api/types";

/** Cameras of a device that does not say how many it has. */
const USUAL = 2;
const MOST = 31;
/** Protocols whose devices send video. */
const WITH_VIDEO = new Set(["jt808"]);

/** The numbers of the cameras: `attributes.channels` of the device counts them; none where its protocol has no video. */
export function camerasOf(
  device: Pick<Device, "attributes">,
  position: Position | undefined,
): readonly number[] {
  const given = Number(device.attributes?.channels);
  const known = Number.isInteger(given) && given >= 0 && given <= MOST;
  const without = position !== undefined && !WITH_VIDEO.has(position.protocol);
  const count = known ? given : without ? 0 : USUAL;
  return Array.from({ length: count }, (_, index) => index + 1);
}

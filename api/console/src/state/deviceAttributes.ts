/** Changes one of the attributes of a device; its other values stay as they are now. */

import { getVersioned, Problem, put } from "../api/call";
import type { Device } from "../api/types";
import { applyMessage } from "./fleet";

/** Another edit comes between reading and writing at most so often. */
const TRIES = 3;

/** Store what `change` makes of an attribute of a device as it is now; undefined removes it. Throws a `Problem`. */
export async function changeAttribute(
  deviceId: number,
  name: string,
  change: (device: Device) => unknown,
): Promise<void> {
  const path = `/devices/${deviceId}`;
  for (let left = TRIES - 1; ; left -= 1) {
    const { value, version } = await getVersioned<Device>(path);
    const { [name]: _, ...others } = value.attributes;
    const next = change(value);
    const attributes = next === undefined ? others : { ...others, [name]: next };
    try {
      applyMessage({ devices: [await put<Device>(path, { ...value, attributes }, version)] });
      return;
    } catch (problem) {
      if (left === 0 || !(problem instanceof Problem) || problem.status !== 412) throw problem;
    }
  }
}

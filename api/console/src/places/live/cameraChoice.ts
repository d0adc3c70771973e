/** Which vehicles a wall can be made of: those with cameras that are online, or that are searched. Pure. */

import type { Device, Position } from "../../api/types";
import { camerasOf } from "../../video/channels";

export interface Candidate {
  device: Device;
  position: Position | undefined;
}

/** Those whose cameras are offered, in their order; all words of the keyword are in name or number. */
export function offered(candidates: readonly Candidate[], keyword: string): readonly Candidate[] {
  const words = keyword.toLowerCase().split(/\s+/).filter(Boolean);
  return candidates.filter(({ device, position }) => {
    if (words.length === 0 && device.status !== "online") return false;
    const known = `${device.name} ${device.uniqueId}`.toLowerCase();
    return words.every((word) => known.includes(word)) && camerasOf(device, position).length > 0;
  });
}

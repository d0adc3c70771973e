/** What a film is called when it is saved. */

import { pictureName } from "../format/fileNames";
import { device } from "../state/fleet";
import { style } from "../state/session";
import { cameraName } from "./cameraNames";

interface Film {
  deviceId: number;
  channel: number;
  fileName: string | null;
}

/** The vehicle, the camera and the reader's time of its beginning, in milliseconds since 1970. */
export function downloadName({ deviceId, channel, fileName }: Film, begins: number): string {
  const vehicle = device(deviceId).value?.name ?? "";
  return pictureName(
    vehicle,
    channel,
    cameraName(deviceId, channel),
    begins,
    style.value.zone,
    fileName?.split(".").at(-1) ?? "mp4",
  );
}

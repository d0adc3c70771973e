/** What can be played of a camera at an instant. Pure. */

import type { Capture, Playback } from "../../api/types";
import type { Span } from "../../time/spans";
import type { Source } from "./player";

/** The span of the recording that a capture holds, where it is known. */
export function heldSpan({ startTime, endTime }: Capture): Span | null {
  return startTime && endTime ? { from: Date.parse(startTime), to: Date.parse(endTime) } : null;
}

interface Known {
  deviceId: number;
  /** By how much the clock of the camera is off, in milliseconds. */
  clock: number;
  captures: readonly Capture[];
  playbacks: readonly Playback[];
}

/** What plays already if it has the instant, else a kept file, else a playback that was asked for it; or null. */
export function sourceAt(
  camera: number,
  shown: number,
  { deviceId, clock, captures, playbacks }: Known,
  present: Source | null,
): Source | null {
  const at = shown - clock;
  const found: Source[] = [];
  for (const capture of captures) {
    const span = heldSpan(capture);
    if (capture.channel !== camera || !capture.url || !span || at < span.from || at >= span.to) continue;
    found.push({ kind: "file", url: capture.url, ...span });
  }
  for (const { channel, status, seconds, startTime, endTime, arrivedTo } of playbacks) {
    const end = endTime ?? arrivedTo;
    if (channel !== camera || (status === "ENDED" && seconds === 0) || !startTime || !end) continue;
    if (at >= Date.parse(startTime) && at < Date.parse(end))
      found.push({ kind: "playback", deviceId, camera });
  }
  return found.find((each) => present && keyOf(each) === keyOf(present)) ?? found[0] ?? null;
}

/** Equal for what is the same film. */
export function keyOf(source: Source): string {
  return source.kind === "file" ? source.url : `${source.deviceId} ${source.camera}`;
}

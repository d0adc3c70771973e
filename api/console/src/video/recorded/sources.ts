/** What can be played of a camera at an instant. Pure. */

import type { Capture, Playback } from "../../api/types";
import type { Span } from "../../time/spans";
import type { Source } from "./player";

/**
 * The span of the recording that a capture holds, where it is known, in the camera's own times. Live video has those
 * of the server, from which the clock of the camera is off by `clock` milliseconds.
 */
export function heldSpan(capture: Capture, clock: number): Span | null {
  const { live, startedAt, completedAt, startTime, endTime } = capture;
  if (live && completedAt)
    return { from: Date.parse(startedAt) - clock, to: Date.parse(completedAt) - clock };
  return startTime && endTime ? { from: Date.parse(startTime), to: Date.parse(endTime) } : null;
}

/** The file of a capture, to be played; null where there is none, or its times are not known. */
export function fileOf(capture: Capture, clock: number): Extract<Source, { kind: "file" }> | null {
  const span = heldSpan(capture, clock);
  if (!capture.url || capture.status !== "COMPLETE" || !span || span.from >= span.to) return null;
  return { kind: "file", url: capture.url, ...span };
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
    const file = capture.channel === camera ? fileOf(capture, clock) : null;
    if (file && at >= file.from && at < file.to) found.push(file);
  }
  for (const { channel, status, seconds, startTime, endTime, arrivedTo } of playbacks) {
    const end = endTime ?? arrivedTo;
    if (channel !== camera || (status === "ENDED" && seconds === 0) || !startTime || !end) continue;
    if (at >= Date.parse(startTime) && at < Date.parse(end))
      found.push({ kind: "playback", deviceId, camera });
  }
  return found.find((each) => present && keyOf(each) === keyOf(present)) ?? found[0] ?? null;
}

/** What there is of an instant without a wait for the vehicle: a kept file, else what arrived; or null. */
export function playableAt(camera: number, shown: number, known: Known): Source | null {
  const at = shown - known.clock;
  const arrived = known.playbacks.filter(({ arrivedTo }) => arrivedTo && at < Date.parse(arrivedTo));
  return sourceAt(camera, shown, { ...known, playbacks: arrived }, null);
}

/** Equal for what is the same film. */
export function keyOf(source: Source): string {
  return source.kind === "file" ? source.url : `${source.deviceId} ${source.camera}`;
}

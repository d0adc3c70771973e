/** Has a vehicle play back a span of a camera, and keeps it where that is wanted. */

import { get, post, remove } from "../../api/call";
import type { Capture } from "../../api/types";
import { instantText, type Span } from "../../time/spans";
import { follow, take } from "./captures";
import { readPlaybacks } from "./playbacks";

/** What is fetched around an instant, in milliseconds. */
export const BEFORE_MS = 30_000;
export const AFTER_MS = 90_000;

/** The span that is fetched around an instant; it ends with the present. */
export function around(at: number, now: number): Span {
  const to = Math.min(at + AFTER_MS, now);
  return whole({ from: Math.min(at - BEFORE_MS, to - 1000), to });
}

/** Devices know whole seconds. */
export function whole({ from, to }: Span): Span {
  const begin = Math.floor(from / 1000) * 1000;
  return { from: begin, to: Math.max(begin + 1000, Math.floor(to / 1000) * 1000) };
}

/**
 * Fetch a span: the capture comes first, since what the vehicle sends before it is not kept, then the command.
 * Afterwards the playlist is opened. Throws a `Problem` if the vehicle does not take it; then nothing is kept.
 */
export async function fetchSpan(
  deviceId: number,
  channel: number,
  span: Span,
  { keep, expected }: { keep: boolean; expected: number | null },
): Promise<Capture | null> {
  const capture = keep ? await post<Capture>("/captures", undefined, { deviceId, channel }) : null;
  try {
    const attributes = {
      channel,
      startTime: instantText(span.from),
      endTime: instantText(span.to),
      noQueue: true,
    };
    await post("/commands/send", { deviceId, type: "videoPlayback", attributes });
  } catch (problem) {
    // An open capture would wait two minutes for a stream that does not come.
    if (capture) await remove(`/captures/${capture.id}`).catch(() => {});
    throw problem;
  }
  if (capture) follow(capture, span, expected);
  await readPlaybacks(deviceId).catch(() => {});
  return capture;
}

/** Keep what a camera sends in the next minutes, as it comes. */
export async function keepLive(deviceId: number, channel: number, minutes: number): Promise<Capture> {
  const query = { deviceId, channel, live: true, minutes };
  const capture = await post<Capture>("/captures", undefined, query);
  const from = Date.parse(capture.startedAt);
  follow(capture, { from, to: from + minutes * 60_000 }, null);
  return capture;
}

/** End a capture where it stands; what has arrived is kept. */
export async function endCapture(id: string): Promise<void> {
  await remove(`/captures/${id}`);
  take([await get<Capture>(`/captures/${id}`)]);
}

export type Control = "pause" | "resume" | "stop" | "seek" | "forward";

/** Control the playback of a camera: `time` for a seek, in milliseconds since 1970; `speed` for forward. */
export async function control(
  deviceId: number,
  channel: number,
  name: Control,
  { time, speed }: { time?: number; speed?: number } = {},
): Promise<void> {
  const attributes = {
    channel,
    control: name,
    noQueue: true,
    ...(time !== undefined && { time: instantText(time) }),
    ...(speed !== undefined && { speed }),
  };
  await post("/commands/send", { deviceId, type: "videoPlaybackControl", attributes });
}

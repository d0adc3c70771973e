/** The playbacks of a vehicle: who watches which span of which camera (docs/video.md#playbacks). */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { get } from "../../api/call";
import type { Playback } from "../../api/types";
import { usePolling } from "./polling";

const RUNNING_MS = 2000;
const RESTING_MS = 10_000;
const NONE: readonly Playback[] = [];

const lists = new Map<number, Signal<readonly Playback[]>>();

/** The latest playback of each camera, as long as the server keeps it. */
export function playbacksOf(deviceId: number): ReadonlySignal<readonly Playback[]> {
  return listOf(deviceId);
}

/** Read them now. */
export async function readPlaybacks(deviceId: number, abort?: AbortSignal): Promise<readonly Playback[]> {
  const found = await get<Playback[]>("/playbacks", { deviceId }, abort);
  listOf(deviceId).value = found;
  return found;
}

/** Follow them while the component is shown and the page is looked at. */
export function usePlaybacks(deviceId: number): ReadonlySignal<readonly Playback[]> {
  usePolling(deviceId, readPlaybacks, () => {
    const runs = listOf(deviceId)
      .peek()
      .some((each) => each.status !== "ENDED");
    return runs ? RUNNING_MS : RESTING_MS;
  });
  return listOf(deviceId);
}

function listOf(deviceId: number): Signal<readonly Playback[]> {
  let found = lists.get(deviceId);
  if (!found) {
    found = signal(NONE);
    lists.set(deviceId, found);
  }
  return found;
}

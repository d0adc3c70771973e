/** Footage requests: spans that the server fetches once the vehicle is online (docs/video.md#footage-requests). */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { get, post, remove } from "../../api/call";
import type { Footage } from "../../api/types";
import { instantText, type Span } from "../../time/spans";
import { usePolling } from "./polling";

const POLL_MS = 5000;
const NONE: readonly Footage[] = [];

/** By device; 0 is one's own. */
const lists = new Map<number, Signal<readonly Footage[]>>();

/** Those for a device, or one's own where that is 0; followed while the component is shown. */
export function useFootage(deviceId: number): ReadonlySignal<readonly Footage[]> {
  usePolling(deviceId, readFootage, () => (listOf(deviceId).peek().some(isOpen) ? POLL_MS : 6 * POLL_MS));
  return listOf(deviceId);
}

export async function readFootage(deviceId: number, abort?: AbortSignal): Promise<void> {
  listOf(deviceId).value = await get<Footage[]>(
    "/footagerequests",
    deviceId > 0 ? { deviceId } : undefined,
    abort,
  );
}

/** Have a span of a camera fetched once the vehicle is online. */
export async function requestFootage(deviceId: number, channel: number, span: Span): Promise<Footage> {
  const wanted = {
    deviceId,
    channel,
    startTime: instantText(span.from),
    endTime: instantText(span.to),
  };
  const made = await post<Footage>("/footagerequests", wanted);
  for (const id of [deviceId, 0]) listOf(id).value = [made, ...listOf(id).peek()];
  return made;
}

/** Take a request back. */
export async function cancelFootage(request: Footage): Promise<void> {
  await remove(`/footagerequests/${request.id}`);
  for (const id of [request.deviceId, 0]) {
    listOf(id).value = listOf(id)
      .peek()
      .filter((each) => each.id !== request.id);
  }
}

export function isOpen(request: Footage): boolean {
  return request.status === "WAITING" || request.status === "FETCHING";
}

function listOf(deviceId: number): Signal<readonly Footage[]> {
  let found = lists.get(deviceId);
  if (!found) {
    found = signal(NONE);
    lists.set(deviceId, found);
  }
  return found;
}

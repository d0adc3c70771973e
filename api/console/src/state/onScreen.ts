/** What the server is asked about the vehicles and users on the screen, of all at once and not more than once a minute. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/call";
import type { DeviceMotion, DevicePlace } from "../api/types";

/** Devices that come onto the screen within this time are asked for together. */
const GATHER_MS = 100;
/** An answer is asked for again after this time while it is on the screen. */
const KEPT_MS = 60_000;
/** Limit of the server for most lists. */
const MOST = 500;

const deviceIdOf = ({ deviceId }: { deviceId: number }) => deviceId;

/** Since when a device moves or stands (docs/devices.md#motion); undefined until that is known. */
export const useMotion = askingOf<DeviceMotion>("/devices/motion", deviceIdOf);
/** Where a device is, in words (docs/devices.md#places); undefined until that is known. */
export const usePlaceWords = askingOf<DevicePlace>("/devices/places", deviceIdOf);

/** A hook that follows what a list of the API says of a thing while the component is shown; `most` is its limit. */
export function askingOf<T>(
  path: string,
  idOf: (answer: T) => number,
  most = MOST,
): (id: number) => ReadonlySignal<T | undefined> {
  const answers = new Map<number, Signal<T | undefined>>();
  const askedAt = new Map<number, number>();
  /** How often each is shown. */
  const shown = new Map<number, number>();
  let timer = 0;
  let due = Number.POSITIVE_INFINITY;

  function signalOf(id: number): Signal<T | undefined> {
    let found = answers.get(id);
    if (!found) {
      found = signal<T | undefined>(undefined);
      answers.set(id, found);
    }
    return found;
  }

  function askSoon(milliseconds: number): void {
    const at = Date.now() + milliseconds;
    if (due <= at) return;
    due = at;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      due = Number.POSITIVE_INFINITY;
      void ask();
    }, milliseconds);
  }

  async function ask(): Promise<void> {
    const now = Date.now();
    const stale = (id: number) => now - (askedAt.get(id) ?? 0) >= KEPT_MS;
    const wanted = document.hidden ? [] : [...shown.keys()].filter(stale).slice(0, most);
    if (shown.size > 0) askSoon(KEPT_MS / 4);
    if (wanted.length === 0) return;
    for (const id of wanted) askedAt.set(id, now);
    try {
      const found = new Map((await get<T[]>(path, { id: wanted })).map((each) => [idOf(each), each]));
      for (const id of wanted) signalOf(id).value = found.get(id);
    } catch {
      // It is asked for again with the next beat.
      for (const id of wanted) askedAt.delete(id);
    }
  }

  return (id) => {
    useEffect(() => {
      shown.set(id, (shown.get(id) ?? 0) + 1);
      askSoon(GATHER_MS);
      return () => {
        const left = (shown.get(id) ?? 1) - 1;
        if (left > 0) shown.set(id, left);
        else shown.delete(id);
      };
    }, [id]);
    return signalOf(id);
  };
}

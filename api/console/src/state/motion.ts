/** Since when the vehicles on the screen move or stand (docs/devices.md#motion). */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/call";
import type { DeviceMotion } from "../api/types";

/** Devices that come onto the screen within this time are asked for together. */
const GATHER_MS = 100;
/** An answer is asked for again after this time while it is on the screen. */
const KEPT_MS = 60_000;
/** Limit of the server. */
const MOST = 500;

const motions = new Map<number, Signal<DeviceMotion | undefined>>();
const askedAt = new Map<number, number>();
/** How often each is shown. */
const shown = new Map<number, number>();
let timer = 0;

/** Since when a device moves or stands; undefined until that is known. Followed while the component is shown. */
export function useMotion(id: number): ReadonlySignal<DeviceMotion | undefined> {
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
}

function signalOf(id: number): Signal<DeviceMotion | undefined> {
  let found = motions.get(id);
  if (!found) {
    found = signal<DeviceMotion | undefined>(undefined);
    motions.set(id, found);
  }
  return found;
}

let due = Number.POSITIVE_INFINITY;

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
  const wanted = document.hidden ? [] : [...shown.keys()].filter(stale).slice(0, MOST);
  if (shown.size > 0) askSoon(KEPT_MS / 4);
  if (wanted.length === 0) return;
  for (const id of wanted) askedAt.set(id, now);
  try {
    const found = new Map(
      (await get<DeviceMotion[]>("/devices/motion", { id: wanted })).map((each) => [each.deviceId, each]),
    );
    for (const id of wanted) signalOf(id).value = found.get(id);
  } catch {
    // It is asked for again with the next beat.
    for (const id of wanted) askedAt.delete(id);
  }
}

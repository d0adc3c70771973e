/** Windows of one reader that show the same vehicle: the map on one screen, a wall or a history on the other. */

import { type ReadonlySignal, signal } from "@preact/signals";

const KEY = "motorpool.linked";

interface Chosen {
  vehicle: number;
}

const isOn = signal(sessionStorage.getItem(KEY) === "yes");
const elsewhere = signal<Chosen | null>(null);
let channel: BroadcastChannel | null = null;
let last: number | null = null;

/** Whether this window is linked to others. */
export const linked: ReadonlySignal<boolean> = isOn;
/** The vehicle that was chosen last in another window. Each choice is a new object. */
export const chosenElsewhere: ReadonlySignal<Chosen | null> = elsewhere;

/** Link this window to others, or end that. */
export function setLinked(on: boolean): void {
  isOn.value = on;
  if (on) sessionStorage.setItem(KEY, "yes");
  else sessionStorage.removeItem(KEY);
}

/** Open an address in a second window, linked to this one. */
export function openLinked(address: string): void {
  setLinked(true);
  // A window that is opened by another begins with a copy of its session storage, and so linked.
  window.open(address, "_blank");
}

/** Follow the windows of this user, or of nobody. */
export function joinWindows(user: number | null): void {
  channel?.close();
  channel = user === null ? null : new BroadcastChannel(`motorpool.vehicle.${user}`);
  if (!channel) return;
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isOn.peek() || !isChosen(data)) return;
    last = data.vehicle;
    elsewhere.value = data;
  };
}

/** Tell the other windows which vehicle is chosen here; what came from them is not sent back. */
export function chooseVehicle(vehicle: number): void {
  if (!isOn.peek() || vehicle === last) return;
  last = vehicle;
  channel?.postMessage({ vehicle });
}

function isChosen(data: unknown): data is Chosen {
  return typeof data === "object" && data !== null && "vehicle" in data && Number.isInteger(data.vehicle);
}

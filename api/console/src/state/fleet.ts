/** Devices and their latest positions, kept up to date by the socket. A message redraws only what it concerns. */

import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { get } from "../api/call";
import type { Message } from "../api/socket";
import type { Device, Position } from "../api/types";
import { compareNames } from "../i18n/translate";

/** Ids by name, as the list begins, without archived ones. */
export const deviceIds = signal<readonly number[]>([]);
/** Ids by name of archived ones. */
export const archivedIds = signal<readonly number[]>([]);
/** Grows with each message that changed something: a beat for what reads plain arrays. */
export const changed = signal(0);
/** Whether the devices have been read. */
export const loaded = signal(false);

const devices = new Map<number, Device>();
const positions = new Map<number, Position>();
const deviceSignals = new Map<number, Signal<Device | undefined>>();
const positionSignals = new Map<number, Signal<Position | undefined>>();
/** Devices whose attributes are known; the list is read without them. */
const complete = new Set<number>();
/** Devices whose attributes are awaited, and those of them that were not asked for yet. */
const awaited = new Set<number>();
let unasked: number[] = [];
/** Devices of one request; their ids stand in its address. */
const AT_ONCE = 100;
/** What could not be read is asked for again so much later. */
const AGAIN_MS = 30_000;
/** The attribute of devices that are out of use. */
export const ARCHIVED = "console.archived";

/** Whether a device is out of use: its history stays, and it is offered nowhere but where one asks for archived ones. */
export function isArchived({ disabled, attributes }: Pick<Device, "disabled" | "attributes">): boolean {
  return disabled && attributes[ARCHIVED] === true;
}

/** A device, as it changes. */
export function device(id: number): ReadonlySignal<Device | undefined> {
  return signalOf(deviceSignals, devices, id);
}

/** The latest position of a device, as it changes. */
export function position(id: number): ReadonlySignal<Position | undefined> {
  return signalOf(positionSignals, positions, id);
}

/** Devices with their latest positions, as of now, without archived ones; read it when `changed` does. */
export function snapshot(
  withArchived = false,
): readonly { device: Device; position: Position | undefined }[] {
  return [...devices.values()]
    .filter((each) => withArchived || listOf(each) === "used")
    .map((each) => ({ device: each, position: positions.get(each.id) }));
}

/** A device as of now, without following it. */
export function deviceNow(id: number): Device | undefined {
  return devices.get(id);
}

/** The latest position as of now, without following it. */
export function positionNow(id: number): Position | undefined {
  return positions.get(id);
}

/** Read the devices; after a gap as well. */
export async function loadFleet(signal?: AbortSignal): Promise<void> {
  const listed = await get<Device[]>("/devices", { excludeAttributes: true }, signal);
  batch(() => {
    const kept = new Set(listed.map((each) => each.id));
    for (const id of [...devices.keys()]) if (!kept.has(id)) forget(id);
    for (const each of listed) {
      const known = complete.has(each.id) ? devices.get(each.id) : undefined;
      store(known ? { ...each, attributes: known.attributes } : each);
    }
    sortIds();
    loaded.value = true;
    changed.value += 1;
  });
  for (const each of listed) if (each.disabled) wantDevice(each.id);
}

/** Read a device with its attributes, unless they are known. */
export async function loadDevice(id: number, signal?: AbortSignal): Promise<Device | undefined> {
  if (!complete.has(id)) {
    const found = await get<Device>(`/devices/${id}`, undefined, signal);
    applyMessage({ devices: [found] });
  }
  return devices.get(id);
}

/** Have the attributes of a device read, together with those of others that are wanted at the same time. */
export function wantDevice(id: number): void {
  if (complete.has(id) || awaited.has(id) || !devices.has(id)) return;
  awaited.add(id);
  if (unasked.push(id) === 1) queueMicrotask(() => void readWanted());
}

async function readWanted(): Promise<void> {
  const ids = unasked;
  unasked = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    try {
      applyMessage({ devices: await get<Device[]>("/devices", { id: some.map(String) }) });
      for (const id of some) awaited.delete(id);
    } catch {
      setTimeout(() => {
        for (const id of some) awaited.delete(id);
        for (const id of some) if (devices.get(id)?.disabled) wantDevice(id);
      }, AGAIN_MS);
    }
  }
}

/** Whether the attributes of a device are known. */
export function isComplete(id: number): boolean {
  return complete.has(id);
}

/**
 * Take over a message of the socket. A position older than the known one is skipped. Returns whether it names a
 * device that is not known yet, so that the list has to be read again.
 */
export function applyMessage(message: Message): boolean {
  let unknown = false;
  /** To another place in a list, or to another list. */
  let moved = false;
  batch(() => {
    for (const each of message.devices ?? []) {
      const before = devices.get(each.id);
      unknown ||= !before && loaded.peek();
      const was = before && listOf(before);
      complete.add(each.id);
      moved ||= before?.name !== each.name || was !== listOf(each);
      store(each);
    }
    for (const each of message.positions ?? []) {
      const before = positions.get(each.deviceId);
      if (before && isOlder(each, before)) continue;
      unknown ||= loaded.peek() && !devices.has(each.deviceId);
      positions.set(each.deviceId, each);
      const following = positionSignals.get(each.deviceId);
      if (following) following.value = each;
    }
    if (moved) sortIds();
    if (message.devices?.length || message.positions?.length) changed.value += 1;
  });
  return unknown;
}

/** Forget everything; for tests and for another user. */
export function clearFleet(): void {
  batch(() => {
    for (const id of [...devices.keys()]) forget(id);
    positions.clear();
    deviceIds.value = [];
    archivedIds.value = [];
    loaded.value = false;
  });
}

/** Instants are written with and without milliseconds, so that texts of different times do not compare. */
function isOlder(one: Position, other: Position): boolean {
  return one.fixTime !== other.fixTime && Date.parse(one.fixTime) < Date.parse(other.fixTime);
}

function store(each: Device): void {
  devices.set(each.id, each);
  const following = deviceSignals.get(each.id);
  if (following) following.value = each;
}

function forget(id: number): void {
  devices.delete(id);
  positions.delete(id);
  complete.delete(id);
  const followed = deviceSignals.get(id);
  if (followed) followed.value = undefined;
  const place = positionSignals.get(id);
  if (place) place.value = undefined;
}

/** Where a device is listed: a disabled one nowhere before its attributes say whether it is archived. */
function listOf(each: Device): "used" | "archived" | null {
  if (each.disabled && !complete.has(each.id)) return null;
  return isArchived(each) ? "archived" : "used";
}

function sortIds(): void {
  const sorted = [...devices.values()].sort((a, b) => compareNames(a.name, b.name) || a.id - b.id);
  const idsOf = (some: readonly Device[]) => some.map(({ id }) => id);
  replace(deviceIds, idsOf(sorted.filter((each) => listOf(each) === "used")));
  replace(archivedIds, idsOf(sorted.filter((each) => listOf(each) === "archived")));
}

function replace(known: Signal<readonly number[]>, ids: readonly number[]): void {
  const before = known.peek();
  if (ids.length !== before.length || ids.some((id, index) => id !== before[index])) known.value = ids;
}

function signalOf<T>(
  followed: Map<number, Signal<T | undefined>>,
  values: Map<number, T>,
  id: number,
): ReadonlySignal<T | undefined> {
  let found = followed.get(id);
  if (!found) {
    found = signal(values.get(id));
    followed.set(id, found);
  }
  return found;
}

/** Captures: those that this browser began, on every place, and those of a vehicle while one looks at it. */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, Problem } from "../../api/call";
import type { Capture } from "../../api/types";
import { t } from "../../i18n/translate";
import { toast } from "../../parts/Toast";
import { go } from "../../router";
import { deviceNow } from "../../state/fleet";
import { session } from "../../state/session";
import { keepForUser, readForUser } from "../../state/userStorage";
import type { Span } from "../../time/spans";
import { beginProgress, type Progress, seen } from "./progress";

/** A capture that was begun in this browser, with the span that was asked for. */
export interface Begun {
  id: string;
  deviceId: number;
  from: number;
  to: number;
  /** Bytes that were expected, or null. */
  expected: number | null;
}

const POLL_MS = 2000;
/** With a span the server lists all captures that are kept, not only those since its start. */
const EVER = "1970-01-01T00:00:00Z";
const MOST = 50;
const NONE: readonly Capture[] = [];

const begun = signal<readonly Begun[]>([]);
const known = signal<ReadonlyMap<string, Capture>>(new Map());
const progress = new Map<string, Progress>();
const ofDevices = new Map<number, Signal<readonly Capture[]>>();
/** How many components look at the captures of a device. */
const watched = new Map<number, number>();
let timer = 0;

/** Those that this browser began, the newest first, as far as the server still knows them. */
export const ownCaptures: ReadonlySignal<readonly { capture: Capture; begun: Begun }[]> = computed(() =>
  begun.value.flatMap((each) => {
    const capture = known.value.get(each.id);
    return capture ? [{ capture, begun: each }] : [];
  }),
);
/** How many of them are being recorded. */
export const recording = computed(
  () => ownCaptures.value.filter(({ capture }) => capture.status === "RECORDING").length,
);

/** What was asked for, where this browser began it. */
export function begunOf(id: string): Begun | undefined {
  return begun.value.find((each) => each.id === id);
}

export function progressOf(id: string): Progress {
  return progress.get(id) ?? beginProgress();
}

/** The captures of a device, followed while the component is shown. */
export function useCaptures(deviceId: number): ReadonlySignal<readonly Capture[]> {
  useEffect(() => {
    if (deviceId <= 0) return;
    watched.set(deviceId, (watched.get(deviceId) ?? 0) + 1);
    pollIn(0);
    return () => {
      const left = (watched.get(deviceId) ?? 1) - 1;
      if (left > 0) watched.set(deviceId, left);
      else watched.delete(deviceId);
    };
  }, [deviceId]);
  return listOf(deviceId);
}

/** Follow a capture that was just begun. */
export function follow(capture: Capture, span: Span, expected: number | null): void {
  batch(() => {
    const { id, deviceId } = capture;
    begun.value = [{ id, deviceId, from: span.from, to: span.to, expected }, ...begun.peek()].slice(0, MOST);
    take([capture]);
  });
  save();
  pollIn(POLL_MS);
}

/** Forget a capture in the list of this browser; the file stays. */
export function dismiss(id: string): void {
  begun.value = begun.peek().filter((each) => each.id !== id);
  save();
}

/** Take over what the server said of captures. */
export function take(captures: readonly Capture[]): void {
  const now = Date.now();
  const next = new Map(known.peek());
  for (const each of captures) {
    if (next.get(each.id)?.status === "RECORDING" && begunOf(each.id)) announce(each);
    next.set(each.id, each);
    progress.set(each.id, seen(progressOf(each.id), each.size, now));
  }
  known.value = next;
}

/** Read which captures this browser began, for whoever is logged in, and follow them. */
export function startCaptures(): void {
  effect(() => {
    const user = session.value;
    begun.value = user ? stored(user.id) : [];
    if (begun.peek().length > 0) pollIn(0);
  });
}

/** Say on whatever place is open how a capture has ended. */
function announce(capture: Capture): void {
  const name = vehicleOf(capture);
  const show = { label: t("frame.show"), run: () => go("/library") };
  if (capture.status === "COMPLETE") toast(t("capture.complete", { name }), "good", show);
  if (capture.status === "FAILED") {
    toast(t("capture.failedOf", { name, reason: capture.reason ?? "" }), "bad", show);
  }
}

function pollIn(milliseconds: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => void poll(), milliseconds);
}

/** Read the captures of devices of which some are awaited, one device after the other. */
async function poll(): Promise<void> {
  const wanted = new Set(watched.keys());
  for (const { id, deviceId } of begun.peek()) {
    if ((known.peek().get(id)?.status ?? "RECORDING") === "RECORDING") wanted.add(deviceId);
  }
  let awaited = false;
  if (!document.hidden) for (const deviceId of wanted) awaited = (await read(deviceId)) || awaited;
  else awaited = wanted.size > 0;
  if (awaited || watched.size > 0) pollIn(awaited ? POLL_MS : 5 * POLL_MS);
}

/** Returns whether one of the device is being recorded, or could not be read. */
async function read(deviceId: number): Promise<boolean> {
  try {
    const found = await get<Capture[]>("/captures", { deviceId, from: EVER });
    batch(() => {
      take(found);
      listOf(deviceId).value = found;
      forgetMissing(deviceId, found);
    });
    return found.some((each) => each.status === "RECORDING");
  } catch (problem) {
    // 400: the user may see no history any more.
    const gone = problem instanceof Problem && [400, 404].includes(problem.status);
    if (gone) forgetMissing(deviceId, []);
    return !gone;
  }
}

/** What is no longer in the list of the server is no longer followed. */
function forgetMissing(deviceId: number, found: readonly Capture[]): void {
  const ids = new Set(found.map((each) => each.id));
  const left = begun.peek().filter((each) => each.deviceId !== deviceId || ids.has(each.id));
  if (left.length === begun.peek().length) return;
  begun.value = left;
  save();
}

function listOf(deviceId: number): Signal<readonly Capture[]> {
  let found = ofDevices.get(deviceId);
  if (!found) {
    found = signal(NONE);
    ofDevices.set(deviceId, found);
  }
  return found;
}

/** The name of a capture's vehicle, for people. */
export function vehicleOf(capture: Pick<Capture, "deviceId">): string {
  return deviceNow(capture.deviceId)?.name ?? `#${capture.deviceId}`;
}

function keyOf(userId: number): string {
  return `captures.${userId}`;
}

function save(): void {
  const user = session.peek();
  if (user) keepForUser(keyOf(user.id), begun.peek());
}

function stored(userId: number): readonly Begun[] {
  const found = readForUser(keyOf(userId));
  return Array.isArray(found) ? found.filter(isBegun).slice(0, MOST) : [];
}

function isBegun(value: unknown): value is Begun {
  if (typeof value !== "object" || value === null) return false;
  const { id, deviceId, from, to } = value as Partial<Begun>;
  return (
    typeof id === "string" &&
    typeof deviceId === "number" &&
    typeof from === "number" &&
    typeof to === "number"
  );
}

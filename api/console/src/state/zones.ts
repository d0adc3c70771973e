/** The zones of the reader, which are geofences in the API; read when they are first needed. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api/call";
import type { Geofence } from "../api/types";
import { compareNames } from "../i18n/translate";

/** They are read anew when they are needed again after this time. */
const KEPT_MS = 60_000;

const known = signal<readonly Geofence[] | null>(null);
const failure = signal<unknown>(null);
let readAt = Number.NEGATIVE_INFINITY;
let reading: Promise<void> | null = null;

/** By name; null until they are there. */
export const zones: ReadonlySignal<readonly Geofence[] | null> = known;
/** Why the zones could not be read, or null. */
export const zonesProblem: ReadonlySignal<unknown> = failure;

/** Read the zones again, after a change. */
export function reloadZones(): Promise<void> {
  readAt = Date.now();
  const asked = get<Geofence[]>("/geofences").then(
    (found) => {
      // What was asked for later counts.
      if (reading !== asked) return;
      known.value = found.sort((one, other) => compareNames(one.name, other.name) || one.id - other.id);
      failure.value = null;
    },
    (problem: unknown) => {
      if (reading !== asked) return;
      readAt = Number.NEGATIVE_INFINITY;
      failure.value = problem;
    },
  );
  reading = asked;
  return asked;
}

/** The zones, read if that was long ago. */
export function useZones(wanted = true): readonly Geofence[] | null {
  useEffect(() => {
    if (wanted && Date.now() - readAt >= KEPT_MS) void reloadZones();
  }, [wanted]);
  return known.value;
}

import { get } from "../../api/call";
import type { Event, Evidence, Position } from "../../api/types";
import { loadDevice } from "../../state/fleet";
import { type Loaded, useLoaded } from "../../state/responseCache";
import { may } from "../../state/session";
import { type Around, around, filesOf, type VehicleFile, WAY_MS } from "./proof";

export interface Proof {
  event: Event;
  /** Null for those who see no history. */
  around: Around | null;
  track: readonly Position[];
  files: readonly VehicleFile[];
  /** Names the folder of its files. */
  uniqueId: string;
}

/** An event with what was stored around it. */
export function useProof(id: number): Loaded<Proof> {
  return useLoaded(`proof ${id}`, async (signal) => {
    const event = await get<Event>(`/events/${id}`, undefined, signal);
    const { deviceId } = event;
    const history = may("reports");
    const [device, track, own, evidence] = await Promise.all([
      loadDevice(deviceId, signal),
      history
        ? get<Position[]>("/positions", { deviceId, ...spanAround(event, WAY_MS) }, signal)
        : Promise.resolve([]),
      history && event.positionId ? ownPosition(event.positionId, signal) : Promise.resolve(undefined),
      history ? get<Evidence[]>(`/events/${id}/evidence`, undefined, signal) : Promise.resolve([]),
    ]);
    return {
      event,
      around: history ? around(event, track, own) : null,
      track,
      files: filesOf(event, evidence),
      uniqueId: device?.uniqueId ?? "",
    };
  });
}

/** It may have been deleted, or be older than what is kept. */
async function ownPosition(id: number, signal: AbortSignal): Promise<Position | undefined> {
  const found = await get<Position[]>("/positions", { id }, signal).catch(() => []);
  return found[0];
}

function spanAround({ eventTime }: Event, milliseconds: number): { from: string; to: string } {
  const at = Date.parse(eventTime);
  const [from, to] = [at - milliseconds, at + milliseconds].map((instant) => new Date(instant).toISOString());
  return { from: from ?? "", to: to ?? "" };
}

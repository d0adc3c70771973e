import { useEffect } from "preact/hooks";
import type { Event } from "../../api/types";
import { device } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { useCaptures } from "../../video/recorded/captures";
import { clockOf } from "../../video/recorded/clock";
import { isOpen, readFootage, useFootage } from "../../video/recorded/footage";
import { type Film, filmsOf } from "./proof";

export interface Films {
  /** Undefined until they are known. */
  films: readonly Film[] | undefined;
  problem: unknown;
  reload: () => void;
}

/** The films of an event, followed while the component is shown. */
export function useFilms(event: Event): Films {
  const { deviceId } = event;
  const captures = useCaptures(deviceId).value;
  const footage = useFootage(deviceId).value;
  const read = useLoaded(`footage ${deviceId}`, async (signal) => {
    await readFootage(deviceId, signal);
    return true;
  });
  const of = device(deviceId).value;
  const open = footage.some(isOpen);
  useEffect(() => {
    // A capture that began or ended may be that of a request.
    if (open) read.reload();
  }, [captures]);
  return {
    films: read.value ? filmsOf(event, footage, captures, (camera) => clockOf(of, camera)) : undefined,
    problem: read.problem,
    reload: read.reload,
  };
}

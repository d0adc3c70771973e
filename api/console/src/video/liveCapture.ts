/** The live video that this browser has kept as a file, begun and ended at the picture itself. */

import { useState } from "preact/hooks";
import type { Capture } from "../api/types";
import { sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { ownCaptures } from "./recorded/captures";
import { endCapture, keepLive } from "./recorded/fetch";
import type { TileId } from "./tiles";

interface LiveCapture {
  /** The one that is being recorded, whichever part of the page has begun it. */
  running: Capture | undefined;
  /** A request is on its way. */
  busy: boolean;
  /** Record so many minutes; returns the id of the capture, or null where the server refuses. */
  begin: (minutes: number) => Promise<string | null>;
  end: () => Promise<void>;
}

export function useLiveCapture({ deviceId, camera }: TileId): LiveCapture {
  const [busy, setBusy] = useState(false);
  const running = ownCaptures.value.find(
    ({ capture }) =>
      capture.live &&
      capture.status === "RECORDING" &&
      capture.deviceId === deviceId &&
      capture.channel === camera,
  )?.capture;
  async function attempt<T>(act: Promise<T>): Promise<T | null> {
    setBusy(true);
    try {
      return await act;
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      return null;
    } finally {
      setBusy(false);
    }
  }
  return {
    running,
    busy,
    begin: async (minutes) => (await attempt(keepLive(deviceId, camera, minutes)))?.id ?? null,
    end: async () => {
      if (running) await attempt(endCapture(running.id));
    },
  };
}

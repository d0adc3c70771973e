/** Reads again and again what the server does not announce. */

import { useEffect } from "preact/hooks";

/**
 * Read at once, and `pause()` milliseconds after each answer, while the component is shown and the page is looked at;
 * anew for another device.
 */
export function usePolling(
  deviceId: number,
  read: (deviceId: number, abort: AbortSignal) => Promise<unknown>,
  pause: () => number,
): void {
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const beat = async () => {
      // What cannot be read now is read with the next beat.
      if (!document.hidden) await read(deviceId, abort.signal).catch(() => {});
      if (!abort.signal.aborted) timer = window.setTimeout(() => void beat(), pause());
    };
    void beat();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [deviceId]);
}

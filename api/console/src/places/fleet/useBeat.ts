import { useEffect, useState } from "preact/hooks";
import { changed } from "../../state/fleet";

const BEAT_MS = 1000;

/**
 * Draw anew as vehicles change, at most once a second, and without a change each `quietMs`. Returns another number each
 * time.
 */
export function useBeat(quietMs?: number): number {
  const [beat, setBeat] = useState(0);
  useEffect(() => {
    const next = () => setBeat((before) => before + 1);
    let timer = 0;
    const end = changed.subscribe(() => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        next();
      }, BEAT_MS);
    });
    const quiet = quietMs === undefined ? 0 : window.setInterval(next, quietMs);
    return () => {
      clearTimeout(timer);
      clearInterval(quiet);
      end();
    };
  }, [quietMs]);
  return beat;
}

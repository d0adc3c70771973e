import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** How long a tile that left the screen keeps its player. */
export const KEPT_MS = 10_000;
const MARGIN = "200px";

/** Whether an element is on or near the screen of a page that is looked at, and for `KEPT_MS` after. */
export function useShown(element: RefObject<HTMLElement | null>): boolean {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    let near = false;
    let timer = 0;
    const update = () => {
      clearTimeout(timer);
      if (near && !document.hidden) setShown(true);
      else timer = window.setTimeout(() => setShown(false), KEPT_MS);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        near = entries.at(-1)?.isIntersecting ?? false;
        update();
      },
      // A wall scrolls within the page, where `rootMargin` alone has no effect.
      { rootMargin: MARGIN, scrollMargin: MARGIN },
    );
    if (element.current) observer.observe(element.current);
    document.addEventListener("visibilitychange", update);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("visibilitychange", update);
    };
  }, [element]);
  return shown;
}

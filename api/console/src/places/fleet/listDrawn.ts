import { loaded } from "../../state/fleet";

/** The list may take this long; a hidden page draws nothing at all. */
const MOST_MS = 3000;

/**
 * Resolves when the list of vehicles is on the screen. To draw a map keeps a small computer busy for a second, and the
 * list would come after it.
 */
export function listDrawn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, MOST_MS);
    const end = loaded.subscribe((isLoaded) => {
      if (!isLoaded) return;
      queueMicrotask(() => end());
      // The frame in which it is drawn ends before the next task.
      requestAnimationFrame(() => setTimeout(resolve));
    });
  });
}

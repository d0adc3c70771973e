/**
 * Starts the cameras of players that wait for their turn (`connectionTurns.ts`), so that their first segments are there when it
 * comes. There is one request at a time, which the server answers at once.
 */

/** How long a request without an answer delays the requests behind it. */
const LATE_MS = 10_000;

let last: Promise<void> = Promise.resolve();

/** Start the camera of this playlist when the requests before it are answered, if `isWanted` returns true then. */
export function prestartCamera(url: string, isWanted: () => boolean): void {
  last = last.then(async () => {
    if (!isWanted()) return;
    // What is wrong with it is said when its turn comes.
    await fetch(`${url}?wait=0`, { cache: "no-store", signal: AbortSignal.timeout(LATE_MS) }).catch(() => {});
  });
}

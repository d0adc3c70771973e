/**
 * When a playlist without parts is requested again. The server lets a request that comes up to 0.75 s before the next
 * segment wait for it (docs/decisions/0230), so a player whose requests begin a little before learns of each segment
 * at once; without that it learns of it up to a segment's length later. hls.js requests once in a segment's length.
 */

/** After the first playlist the next request comes so soon, as a fraction of the target duration: it is answered as it
 * is, then the one after half a target duration more waits; or it waits itself. */
export const FIRST_FRACTION = 0.375;
/** Seconds for which a request is to wait, so that a segment that is early is not missed. */
const LEAD_SECONDS = 0.25;
/** A request that waited no longer did not wait: the server answers within that. */
const ANSWER_SECONDS = 0.1;
/** Steps by which requests come earlier until they wait again. */
const STEP_SECONDS = 0.1;
const TOLERANCE_SECONDS = 0.15;

/** hls.js has planned the next request when this is known, so each excess is seen twice. */
const DAMPING = 0.4;

/** How much later than planned, in seconds, a request should come after one that took `waited` seconds for `news`. */
export function shift(waited: number, news: boolean): number {
  // hls.js itself asks again sooner after an answer without news.
  if (!news) return 0;
  if (waited < ANSWER_SECONDS) return -STEP_SECONDS;
  const excess = waited - LEAD_SECONDS;
  return excess > TOLERANCE_SECONDS ? excess * DAMPING : 0;
}

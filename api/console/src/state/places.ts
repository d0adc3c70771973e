/** Places by their names: towns and addresses, which the server knows (docs/server.md#places). */

import { get } from "../api/call";
import type { FoundPlace } from "../api/types";

/** After the last letter was typed. */
export const SEARCH_MS = 300;
/** Fewer letters are the beginning of thousands of towns. */
const LEAST_LETTERS = 2;

/** Where a search is: degrees; what is near comes first. */
export interface Near {
  latitude: number;
  longitude: number;
}

/**
 * Towns whose name begins with the text, or with `addresses` what the geocoder finds; zones of such a name are known to
 * the page. Throws a `Problem`.
 */
export async function findPlaces(
  text: string,
  near: Near | null,
  options: { addresses?: boolean; limit: number; signal?: AbortSignal | undefined },
): Promise<FoundPlace[]> {
  const keyword = text.trim();
  if (keyword.length < LEAST_LETTERS) return [];
  const { addresses = false, limit, signal } = options;
  // Zones may come before them.
  const query = { keyword: keyword.slice(0, 200), ...near, addresses, limit: 2 * limit };
  const found = await get<FoundPlace[]>("/places", query, signal);
  return found.filter(({ kind }) => kind !== "geofence").slice(0, limit);
}

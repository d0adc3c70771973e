/** Preferences for the base map, beside `[map]` of the server settings (docs/console.md#map). */

/** The preferences of a user or of the server (docs/users.md#preferences). */
interface Preferring {
  map?: string | null;
  mapUrl?: string | null;
  poiLayer?: string | null;
}

export interface MapPreferences {
  /** URL of tiles or of a style, in place of the streets of `[map] tiles`. */
  tiles: string | null;
  /** URL of a KML file with points of interest. */
  places: string | null;
}

/** The name in `map` of what `mapUrl` describes. */
const CUSTOM = "custom";

/** The preferences of the user, else of the server; the other way round if the server forces its settings. */
export function mapPreferencesOf(
  user: Preferring | null | undefined,
  server: (Preferring & { forceSettings?: boolean }) | null | undefined,
): MapPreferences {
  const order = server?.forceSettings ? [server, user] : [user, server];
  const map = order.map((each) => each?.map).find(Boolean);
  const places = order.map((each) => each?.poiLayer).find(Boolean) ?? null;
  return { tiles: map === CUSTOM ? server?.mapUrl || null : null, places };
}

/** The URL as a whole, if the policy of the page lets it be read: from this server, or from one of `hosts`. Else null. */
export function allowed(url: string | null, hosts: readonly string[], here: string): string | null {
  const origin = url ? originOf(url, here) : null;
  if (!url || origin === null || (origin !== here && !hosts.includes(origin))) return null;
  return url.startsWith("/") ? origin + url : url;
}

function originOf(url: string, here: string): string | null {
  try {
    return new URL(url, here).origin;
  } catch {
    return null;
  }
}

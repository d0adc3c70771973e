/** A place that was searched for and is marked on the map, in the address: `place=latitude,longitude&placeName=`. */

import type { FoundPlace } from "../../api/types";
import { location, withQuery } from "../../router";
import { writeView } from "./view";

const ZOOMS = { town: 11, address: 16, geofence: 13 } as const;

export interface ShownPlace {
  latitude: number;
  longitude: number;
  name: string;
}

/** The place of an address; null if there is none. */
export function readPlace(query: URLSearchParams): ShownPlace | null {
  const parts = (query.get("place") ?? "")
    .split(",")
    .map((part) => (part.trim() ? Number(part) : Number.NaN));
  const [latitude = Number.NaN, longitude = Number.NaN] = parts;
  const isPlace = parts.length === 2 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isPlace ? { latitude, longitude, name: query.get("placeName") ?? "" } : null;
}

/** The address of the fleet with a place in the middle of its map. */
export function placeAddress({ kind, name, latitude, longitude }: FoundPlace): string {
  const query =
    location.value.path === "/fleet" ? new URLSearchParams(location.value.query) : new URLSearchParams();
  query.set("at", writeView({ zoom: ZOOMS[kind], latitude, longitude }));
  query.set("place", `${latitude},${longitude}`);
  query.set("placeName", name);
  return withQuery("/fleet", query);
}

/** What part of the map is seen, in the address: `at=zoom/latitude/longitude`. */

import type { View } from "../../map/baseMap";

/** The view of an address; null if there is none that can be shown. */
export function readView(text: string | null): View | null {
  const parts = (text ?? "").split("/");
  const [zoom = Number.NaN, latitude = Number.NaN, longitude = Number.NaN] = parts.map((part) =>
    part.trim() === "" ? Number.NaN : Number(part),
  );
  const isView =
    parts.length === 3 && zoom >= 0 && zoom <= 22 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isView ? { zoom, latitude, longitude } : null;
}

/** A view as an address has it, to a pixel or so. */
export function writeView({ zoom, latitude, longitude }: View): string {
  return `${zoom.toFixed(2)}/${latitude.toFixed(6)}/${longitude.toFixed(6)}`;
}

interface Placed {
  latitude?: number | null;
  longitude?: number | null;
  zoom?: number | null;
}

/** The first view that a user or the server begins with; null if none is set. */
export function preferredView(...order: (Placed | null | undefined)[]): View | null {
  for (const each of order) {
    const { latitude, longitude, zoom } = each ?? {};
    if (latitude || longitude)
      return { zoom: zoom || 10, latitude: latitude ?? 0, longitude: longitude ?? 0 };
  }
  return null;
}

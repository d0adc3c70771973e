/** Zones as they are drawn, and which of them hold a place. */

import type { Geofence } from "../api/types";
import { type Place, readArea, type Shape } from "./area";
import { boundsOf, container, HALF_WIDTH } from "./areaGeometry";

/** A zone to draw. */
export interface Zone {
  id: number;
  name: string;
  /** As the API has it: anything that a style sheet takes; empty for the map's own. */
  color: string;
  shape: Shape;
  /** Of a corridor, in meters. */
  halfWidth: number;
}

/** Half the width of a corridor by the attributes of its zone, in meters. */
export function halfWidthOf({ attributes }: Pick<Geofence, "attributes">): number {
  const width = attributes.polylineDistance;
  return typeof width === "number" && width >= 0 ? width : HALF_WIDTH;
}

/** The zones that can be drawn: not hidden by their attribute, and with a valid area. */
export function drawable(records: readonly Geofence[]): Zone[] {
  return records.flatMap((record) => {
    const shape = record.attributes.hide === true ? null : readArea(record.area);
    if (!shape) return [];
    const { id, name, attributes } = record;
    const color = typeof attributes.color === "string" ? attributes.color : "";
    return [{ id, name, color, shape, halfWidth: halfWidthOf(record) }];
  });
}

/** The zones that contain a place, the smallest first. */
export function zonesAt(zones: readonly Zone[], place: Place): Zone[] {
  const found = zones.filter(({ shape, halfWidth }) => container(shape, halfWidth)(place));
  return found.sort((one, other) => sizeOf(one) - sizeOf(other));
}

/** Square degrees of the box around a zone. */
export function sizeOf({ shape, halfWidth }: Zone): number {
  const [west, south, east, north] = boundsOf(shape, halfWidth);
  return (east - west) * (north - south);
}

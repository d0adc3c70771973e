/** In which zone a calendar is read. */

import type { Calendar } from "../api/types";
import { server, style } from "../state/session";
import { isZone } from "../time/zones";
import { decoded } from "./blocks";

/**
 * The zone that a calendar names, else one that is given, such as of a company, else that of the server; that of the
 * reader where the browser does not know it.
 */
export function zoneOf({ data, attributes }: Pick<Calendar, "data" | "attributes">, otherwise = ""): string {
  const named = /^X-WR-TIMEZONE:(.+?)\r?$/m.exec(decoded(data))?.[1];
  const found = [named, attributes.timezone, otherwise, serverZone()].find(
    (zone) => typeof zone === "string" && zone,
  );
  return typeof found === "string" && isZone(found) ? found : style.value.zone;
}

/** The zone of the server; empty: UTC. */
export function serverZone(): string {
  const zone = server.value?.attributes.timezone;
  return typeof zone === "string" && zone ? zone : "UTC";
}

/** How one reader wants values written. Preferences are those of docs/users.md#preferences. */

import { browserZone, isZone } from "../time/zones";

export type SpeedUnit = "kn" | "kmh" | "mph";
export type DistanceUnit = "km" | "mi" | "nmi";
export type AltitudeUnit = "m" | "ft";
export type VolumeUnit = "ltr" | "usGal" | "impGal";
export type CoordinateFormat = "dd" | "ddm" | "dms";

export interface Style {
  /** BCP 47, for `Intl`. */
  language: string;
  /** IANA name. */
  zone: string;
  speedUnit: SpeedUnit;
  distanceUnit: DistanceUnit;
  altitudeUnit: AltitudeUnit;
  volumeUnit: VolumeUnit;
  coordinateFormat: CoordinateFormat;
}

/** What users and servers have in common here. */
export interface Preferring {
  coordinateFormat?: string | null;
  attributes?: Record<string, unknown> | null;
}

const SPEEDS: readonly SpeedUnit[] = ["kn", "kmh", "mph"];
const DISTANCES: readonly DistanceUnit[] = ["km", "mi", "nmi"];
const ALTITUDES: readonly AltitudeUnit[] = ["m", "ft"];
const VOLUMES: readonly VolumeUnit[] = ["ltr", "usGal", "impGal"];
const COORDINATES: readonly CoordinateFormat[] = ["dd", "ddm", "dms"];

/** The style of a reader: the server's values first if it forces them, else the user's, the server's, the default. */
export function styleOf(
  user: Preferring | null,
  server: (Preferring & { forceSettings?: boolean }) | null,
  language: string,
): Style {
  const order = server?.forceSettings ? [server, user] : [user, server];
  function one<T extends string>(key: string, known: readonly T[], otherwise: T): T {
    for (const each of order) {
      const found = known.find((value) => value === each?.attributes?.[key]);
      if (found) return found;
    }
    return otherwise;
  }
  const zones = order.map((each) => each?.attributes?.timezone);
  const coordinates = order.map((each) => COORDINATES.find((value) => value === each?.coordinateFormat));
  return {
    language,
    zone: zones.find((zone): zone is string => typeof zone === "string" && isZone(zone)) ?? browserZone(),
    speedUnit: one("speedUnit", SPEEDS, "kmh"),
    distanceUnit: one("distanceUnit", DISTANCES, "km"),
    altitudeUnit: one("altitudeUnit", ALTITUDES, "m"),
    volumeUnit: one("volumeUnit", VOLUMES, "ltr"),
    coordinateFormat: coordinates.find((found) => found !== undefined) ?? "dd",
  };
}

/** Which reports there are: their columns, sums, and what of a row lies where and when. */

import type {
  CombinedItem,
  DeviceItem,
  DriverItem,
  Event,
  FuelItem,
  GeofenceVisit,
  IdlingItem,
  Position,
  Presence,
  SensorItem,
  StopItem,
  SummaryItem,
  TripItem,
  UtilisationItem,
} from "../../api/types";
import type { Key } from "../../i18n/translate";
import type { Form, Value } from "./cells";

/** In the order in which they are offered; the names are those of the API's paths. */
export const KIND_NAMES = [
  "trips",
  "stops",
  "summary",
  "utilisation",
  "drivers",
  "events",
  "geofences",
  "idling",
  "fuel",
  "sensors",
  "route",
  "combined",
  "presence",
  "devices",
] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** What rows are grouped by. */
export type Group = "device" | "driver" | "day";

/** Parameters of a report besides who and when. */
export type Option = "daily" | "kinds" | "zones" | "attributes" | "place";

/** Names that only the page knows. */
export interface Names {
  device: (id: number) => string;
  zone: (id: number) => string;
  event: (event: Event) => string;
  attribute: (key: string) => string;
  state: (status: string) => string;
}

export interface Column<T> {
  key: string;
  label: Key;
  form: Form;
  of: (item: T, names: Names) => Value;
  /** What many rows amount to, in groups and in all; without it nothing. */
  total?: (items: readonly T[]) => number | null;
  /** Left out until it is chosen. */
  hidden?: boolean;
}

/** A place of a row. */
export interface Spot {
  longitude: number;
  latitude: number;
}

/** Where a row was: one place, or a way between two. */
export interface Whereabouts {
  from: Spot;
  to?: Spot;
}

export interface Kind<T> {
  name: KindName;
  columns: readonly Column<T>[];
  options: readonly Option[];
  groups: readonly Group[];
  /** Columns with a total that charts show; the first is shown first. */
  charts: readonly string[];
  /** Columns with a total that two spans are compared by. */
  compared: readonly string[];
  /** The vehicle of a row; 0 is none. */
  deviceId: (item: T) => number;
  /** When it began and ended, in milliseconds since 1970; null for what is of the whole span. */
  span: (item: T) => { from: number; to: number } | null;
  driver?: (item: T) => string | null;
  where?: (item: T) => Whereabouts | null;
  /** The report that has the rows behind one, where one is no moment of its own. */
  leadsTo?: (item: T) => { kind: KindName; deviceId?: number; group?: Group };
  /** Longest span in days. */
  days?: number;
}

const time = (text: string | null): number | null => (text === null ? null : Date.parse(text));
const sum =
  <T>(of: (item: T) => number | null) =>
  (items: readonly T[]): number =>
    items.reduce((total, item) => total + (of(item) ?? 0), 0);
const most =
  <T>(of: (item: T) => number | null) =>
  (items: readonly T[]): number | null =>
    items.reduce<number | null>((highest, item) => {
      const value = of(item);
      return value === null ? highest : Math.max(highest ?? value, value);
    }, null);
const HOUR_MS = 3_600_000;
const METERS_OF_A_MILE = 1852;

/** Knots over all: distance by time. */
const meanSpeed =
  <T extends { distance: number }>(ms: (item: T) => number) =>
  (items: readonly T[]): number | null => {
    const hours = sum(ms)(items) / HOUR_MS;
    return hours > 0 ? sum<T>((item) => item.distance)(items) / METERS_OF_A_MILE / hours : null;
  };

interface OfDevice {
  deviceId: number;
  deviceName?: string;
}
const vehicle = <T extends OfDevice>(): Column<T> => ({
  key: "vehicle",
  label: "report.vehicle",
  form: "text",
  of: (item, names) => item.deviceName || names.device(item.deviceId),
});

interface Spanning {
  startTime: string;
  endTime: string;
}
const began = <T extends Spanning>(): Column<T> => ({
  key: "start",
  label: "report.start",
  form: "time",
  of: (item) => time(item.startTime),
});
const ended = <T extends Spanning>(): Column<T> => ({
  key: "end",
  label: "report.end",
  form: "time",
  of: (item) => time(item.endTime),
});
const spanOf = (item: Spanning) => ({ from: Date.parse(item.startTime), to: Date.parse(item.endTime) });
const lasted = <T extends Spanning>(): Column<T> => ({
  key: "duration",
  label: "report.duration",
  form: "duration",
  of: (item) => Date.parse(item.endTime) - Date.parse(item.startTime),
  total: sum((item) => Date.parse(item.endTime) - Date.parse(item.startTime)),
});

/** A column of numbers of which the sum counts, or the greatest. */
function figure<T>(
  key: string,
  label: Key,
  form: Form,
  of: (item: T) => number | null,
  total: "sum" | "most" | "none" = "sum",
): Column<T> {
  const counted = total === "sum" ? sum(of) : most(of);
  return { key, label, form, of, ...(total !== "none" && { total: counted }) };
}
const count = <T>(): Column<T> => ({
  key: "rows",
  label: "report.rows",
  form: "count",
  of: () => 1,
  total: (items) => items.length,
  hidden: true,
});
const hidden = <T>(column: Column<T>): Column<T> => ({ ...column, hidden: true });
const spot = (latitude: number | null, longitude: number | null): Spot | null =>
  latitude === null || longitude === null || (latitude === 0 && longitude === 0)
    ? null
    : { latitude, longitude };
const at = (from: Spot | null, to?: Spot | null): Whereabouts | null => from && { from, ...(to && { to }) };

const trips: Kind<TripItem> = {
  name: "trips",
  columns: [
    vehicle(),
    began(),
    { key: "startPlace", label: "report.startPlace", form: "text", of: (item) => item.startPlace },
    ended(),
    { key: "endPlace", label: "report.endPlace", form: "text", of: (item) => item.endPlace },
    figure("distance", "report.distance", "distance", (item) => item.distance),
    figure("duration", "report.duration", "duration", (item) => item.duration),
    {
      key: "averageSpeed",
      label: "report.averageSpeed",
      form: "speed",
      of: (item) => item.averageSpeed,
      total: meanSpeed((item) => item.duration),
    },
    figure("maxSpeed", "report.maxSpeed", "speed", (item) => item.maxSpeed, "most"),
    figure("spentFuel", "report.spentFuel", "volume", (item) => item.spentFuel),
    {
      key: "driver",
      label: "report.driver",
      form: "text",
      of: (item) => item.driverName ?? item.driverUniqueId,
    },
    hidden(figure("startOdometer", "report.startOdometer", "distance", (item) => item.startOdometer, "none")),
    hidden(figure("endOdometer", "report.endOdometer", "distance", (item) => item.endOdometer, "none")),
    count(),
  ],
  options: [],
  groups: ["device", "driver", "day"],
  charts: ["distance", "duration", "rows", "spentFuel"],
  compared: ["rows", "distance", "duration", "averageSpeed", "spentFuel"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  driver: (item) => item.driverName ?? item.driverUniqueId,
  where: (item) => at(spot(item.startLat, item.startLon), spot(item.endLat, item.endLon)),
};

const stops: Kind<StopItem> = {
  name: "stops",
  columns: [
    vehicle(),
    began(),
    ended(),
    { key: "place", label: "report.place", form: "text", of: (item) => item.place },
    figure("duration", "report.duration", "duration", (item) => item.duration),
    figure("engineHours", "report.engineHours", "duration", (item) => item.engineHours),
    figure("spentFuel", "report.spentFuel", "volume", (item) => item.spentFuel),
    hidden(figure("odometer", "report.odometer", "distance", (item) => item.startOdometer, "none")),
    count(),
  ],
  options: [],
  groups: ["device", "day"],
  charts: ["duration", "rows", "engineHours"],
  compared: ["rows", "duration", "engineHours", "spentFuel"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  where: (item) => at(spot(item.latitude, item.longitude)),
};

const summary: Kind<SummaryItem> = {
  name: "summary",
  columns: [
    vehicle(),
    began(),
    ended(),
    figure("distance", "report.distance", "distance", (item) => item.distance),
    figure("engineHours", "report.engineHours", "duration", (item) => item.engineHours),
    {
      key: "averageSpeed",
      label: "report.averageSpeed",
      form: "speed",
      of: (item) => item.averageSpeed,
      total: meanSpeed((item) => item.engineHours),
    },
    figure("maxSpeed", "report.maxSpeed", "speed", (item) => item.maxSpeed, "most"),
    figure("spentFuel", "report.spentFuel", "volume", (item) => item.spentFuel),
    hidden(figure("startOdometer", "report.startOdometer", "distance", (item) => item.startOdometer, "none")),
    figure("endOdometer", "report.endOdometer", "distance", (item) => item.endOdometer, "none"),
  ],
  options: ["daily"],
  groups: ["device", "day"],
  charts: ["distance", "engineHours", "spentFuel"],
  compared: ["distance", "engineHours", "maxSpeed", "spentFuel"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  leadsTo: (item) => ({ kind: "trips", deviceId: item.deviceId }),
};

const utilisation: Kind<UtilisationItem> = {
  name: "utilisation",
  columns: [
    vehicle(),
    { key: "day", label: "report.day", form: "day", of: (item) => time(item.startTime) },
    figure("driving", "report.driving", "duration", (item) => item.driving),
    figure("idling", "report.idling", "duration", (item) => item.idling),
    figure("standing", "report.standing", "duration", (item) => item.standing),
    figure("engineHours", "report.engineHours", "duration", (item) => item.engineHours),
    figure("distance", "report.distance", "distance", (item) => item.distance),
    figure("trips", "report.trips", "count", (item) => item.trips),
    { key: "firstStart", label: "report.firstStart", form: "time", of: (item) => time(item.firstStart) },
    { key: "lastEnd", label: "report.lastEnd", form: "time", of: (item) => time(item.lastEnd) },
  ],
  options: [],
  groups: ["device", "day"],
  charts: ["driving", "idling", "standing", "engineHours", "distance", "trips"],
  compared: ["driving", "idling", "standing", "engineHours", "distance", "trips"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
};

const drivers: Kind<DriverItem> = {
  name: "drivers",
  columns: [
    {
      key: "driver",
      label: "report.driver",
      form: "text",
      of: (item) => item.driverName ?? item.driverUniqueId,
    },
    figure("trips", "report.trips", "count", (item) => item.trips),
    figure("distance", "report.distance", "distance", (item) => item.distance),
    figure("duration", "report.duration", "duration", (item) => item.duration),
    figure("score", "report.score", "figure", (item) => item.score, "none"),
    figure("accelerations", "report.accelerations", "count", (item) => item.accelerations.count),
    figure("brakings", "report.brakings", "count", (item) => item.brakings.count),
    figure("cornerings", "report.cornerings", "count", (item) => item.cornerings.count),
    figure("overspeeds", "report.overspeeds", "count", (item) => item.overspeeds.count),
    figure("speeding", "report.speeding", "duration", (item) => item.speeding.duration),
    figure("phone", "report.phone", "count", (item) => item.phoneAlarms.count),
    figure("fatigue", "report.fatigue", "count", (item) => item.fatigueAlarms.count),
    hidden(
      figure(
        "drivingLeft",
        "report.drivingLeft",
        "duration",
        (item) => item.hours?.driving?.left ?? null,
        "none",
      ),
    ),
    hidden(
      figure("dailyLeft", "report.dailyLeft", "duration", (item) => item.hours?.daily?.left ?? null, "none"),
    ),
    hidden(figure("breaches", "report.breaches", "count", (item) => item.hours?.breaches.length ?? null)),
    hidden({ key: "formula", label: "report.formula", form: "text", of: (item) => item.scoreFormula }),
  ],
  options: [],
  groups: ["driver"],
  charts: ["distance", "duration", "trips", "overspeeds", "brakings"],
  compared: ["trips", "distance", "duration", "accelerations", "brakings", "cornerings", "overspeeds"],
  deviceId: () => 0,
  span: () => null,
  driver: (item) => item.driverName ?? item.driverUniqueId,
  leadsTo: () => ({ kind: "trips", group: "driver" }),
};

const events: Kind<Event> = {
  name: "events",
  columns: [
    {
      key: "vehicle",
      label: "report.vehicle",
      form: "text",
      of: (item, names) => names.device(item.deviceId),
    },
    { key: "time", label: "report.time", form: "time", of: (item) => time(item.eventTime) },
    { key: "event", label: "report.event", form: "text", of: (item, names) => names.event(item) },
    {
      key: "zone",
      label: "report.zone",
      form: "text",
      of: (item, names) => (item.geofenceId ? names.zone(item.geofenceId) : null),
    },
    count(),
  ],
  options: ["kinds"],
  groups: ["device", "day"],
  charts: ["rows"],
  compared: ["rows"],
  deviceId: (item) => item.deviceId,
  span: (item) => ({ from: Date.parse(item.eventTime), to: Date.parse(item.eventTime) }),
};

const geofences: Kind<GeofenceVisit> = {
  name: "geofences",
  columns: [
    vehicle(),
    { key: "zone", label: "report.zone", form: "text", of: (item, names) => names.zone(item.geofenceId) },
    began(),
    ended(),
    lasted(),
    count(),
  ],
  options: ["zones"],
  groups: ["device", "day"],
  charts: ["duration", "rows"],
  compared: ["rows", "duration"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
};

const idling: Kind<IdlingItem> = {
  name: "idling",
  columns: [
    vehicle(),
    began(),
    ended(),
    { key: "place", label: "report.place", form: "text", of: (item) => item.place },
    figure("duration", "report.duration", "duration", (item) => item.duration),
    figure("spentFuel", "report.spentFuel", "volume", (item) => item.spentFuel),
    count(),
  ],
  options: [],
  groups: ["device", "day"],
  charts: ["duration", "rows", "spentFuel"],
  compared: ["rows", "duration", "spentFuel"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  where: (item) => at(spot(item.latitude, item.longitude)),
};

const fuel: Kind<FuelItem> = {
  name: "fuel",
  columns: [
    vehicle(),
    began(),
    ended(),
    figure("startFuel", "report.startFuel", "volume", (item) => item.startFuel, "none"),
    figure("endFuel", "report.endFuel", "volume", (item) => item.endFuel, "none"),
    figure("used", "report.used", "volume", (item) => item.used),
    figure("fills", "report.fills", "count", (item) => item.fills.length),
    figure("filled", "report.filled", "volume", (item) => item.filled),
    figure("losses", "report.losses", "count", (item) => item.losses.length),
    figure("lost", "report.lost", "volume", (item) => item.lost),
    figure("distance", "report.distance", "distance", (item) => item.distance),
    {
      key: "consumption",
      label: "report.consumption",
      form: "consumption",
      of: (item) => item.consumption,
      total: (items) => {
        const known = items.filter((item) => item.consumption !== null);
        const kilometers = sum<FuelItem>((item) => item.distance)(known) / 1000;
        return kilometers >= 1 ? (100 * sum<FuelItem>((item) => item.used)(known)) / kilometers : null;
      },
    },
  ],
  options: ["daily"],
  groups: ["device", "day"],
  charts: ["used", "filled", "lost", "consumption", "distance"],
  compared: ["used", "filled", "lost", "distance", "consumption"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  where: (item) => {
    const [first] = [...item.losses, ...item.fills];
    return first ? at(spot(first.latitude, first.longitude)) : null;
  },
};

const sensors: Kind<SensorItem> = {
  name: "sensors",
  columns: [
    vehicle(),
    began(),
    {
      key: "sensor",
      label: "report.sensor",
      form: "text",
      of: (item, names) => names.attribute(item.attribute),
    },
    figure("minimum", "report.minimum", "figure", (item) => item.minimum, "none"),
    figure("mean", "report.mean", "figure", (item) => item.mean, "none"),
    figure("maximum", "report.maximum", "figure", (item) => item.maximum, "none"),
    figure("last", "report.last", "figure", (item) => item.last, "none"),
    { key: "unit", label: "report.unit", form: "text", of: (item) => item.unit },
    figure("readings", "report.readings", "count", (item) => item.count),
    figure("outside", "report.outside", "duration", (item) => item.outside),
  ],
  options: ["attributes"],
  groups: ["device", "day"],
  charts: ["outside", "readings"],
  compared: ["outside", "readings"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
};

const route: Kind<Position> = {
  name: "route",
  columns: [
    {
      key: "vehicle",
      label: "report.vehicle",
      form: "text",
      of: (item, names) => names.device(item.deviceId),
    },
    { key: "time", label: "report.time", form: "time", of: (item) => time(item.fixTime) },
    { key: "valid", label: "report.valid", form: "switch", of: (item) => item.valid },
    figure("speed", "report.speed", "speed", (item) => item.speed, "most"),
    figure("altitude", "report.altitude", "metres", (item) => item.altitude, "none"),
    { key: "address", label: "report.place", form: "text", of: (item) => item.address },
    { key: "latitude", label: "report.latitude", form: "text", of: (item) => item.latitude.toFixed(6) },
    { key: "longitude", label: "report.longitude", form: "text", of: (item) => item.longitude.toFixed(6) },
    count(),
  ],
  options: [],
  groups: ["device", "day"],
  charts: ["rows", "speed"],
  compared: ["rows"],
  deviceId: (item) => item.deviceId,
  span: (item) => ({ from: Date.parse(item.fixTime), to: Date.parse(item.fixTime) }),
  where: (item) => at(spot(item.latitude, item.longitude)),
};

const presence: Kind<Presence> = {
  name: "presence",
  columns: [
    vehicle(),
    began(),
    ended(),
    lasted(),
    figure("nearest", "report.nearest", "metres", (item) => item.distance, "none"),
    count(),
  ],
  options: ["place"],
  groups: ["device", "day"],
  charts: ["duration", "rows"],
  compared: ["rows", "duration"],
  deviceId: (item) => item.deviceId,
  span: spanOf,
  days: 7,
};

const devices: Kind<DeviceItem> = {
  name: "devices",
  columns: [
    vehicle(),
    { key: "uniqueId", label: "report.uniqueId", form: "text", of: (item) => item.uniqueId },
    { key: "status", label: "report.status", form: "text", of: (item, names) => names.state(item.status) },
    { key: "lastUpdate", label: "report.lastUpdate", form: "time", of: (item) => time(item.lastUpdate) },
    { key: "place", label: "report.place", form: "text", of: (item) => item.place },
    { key: "model", label: "report.model", form: "text", of: (item) => item.model },
    { key: "phone", label: "report.phoneNumber", form: "text", of: (item) => item.phone },
    { key: "contact", label: "report.contact", form: "text", of: (item) => item.contact },
  ],
  options: [],
  groups: [],
  charts: [],
  compared: [],
  deviceId: (item) => item.deviceId,
  span: () => null,
  where: (item) => at(spot(item.latitude, item.longitude)),
};

/** Events with the places of the route that they lie on; the rows of `combined`. */
const combined: Kind<Placed> = {
  ...events,
  name: "combined",
  options: [],
  columns: [
    ...events.columns.slice(0, -1),
    { key: "address", label: "report.place", form: "text", of: (item) => item.position?.address ?? null },
    figure("speed", "report.speed", "speed", (item) => item.position?.speed ?? null, "most"),
    count(),
  ],
  where: ({ position }) => position && at(spot(position.latitude, position.longitude)),
};

/** An event with its position. */
export interface Placed extends Event {
  position: Position | null;
}

/** The rows that an item of `combined` stands for. */
export function placedEvents({ events: found, positions }: CombinedItem): readonly Placed[] {
  const byId = new Map(positions.map((position) => [position.id, position]));
  return found.map((event) => ({ ...event, position: byId.get(event.positionId) ?? null }));
}

/** The item of a row; each kind knows its own. */
export type Item = object;

const all = {
  trips,
  stops,
  summary,
  utilisation,
  drivers,
  events,
  geofences,
  idling,
  fuel,
  sensors,
  route,
  combined,
  presence,
  devices,
} satisfies Record<KindName, unknown>;

/** A report by its name, with items of which only it knows more. */
export function kindOf(name: KindName): Kind<Item> {
  return all[name] as unknown as Kind<Item>;
}

export function isKind(name: string | undefined): name is KindName {
  return KIND_NAMES.some((each) => each === name);
}

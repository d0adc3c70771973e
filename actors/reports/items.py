"""The records that reports consist of, as the API answers them (docs/reports.md#records).

Distances are metres, speeds knots, volumes litres, durations and engine hours milliseconds.
"""

from datetime import UTC, datetime

import msgspec

from motorpool.actors.reports.driver_score import ScoredCount, ScoredShare
from motorpool.storage.records import Event, Position

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class ReportItem(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename="camel"):
    """A span of time of a device, and what it did meanwhile."""

    device_id: int
    device_name: str = ""
    distance: float = 0.0
    """Metres."""
    average_speed: float = 0.0
    """Knots."""
    max_speed: float = 0.0
    """Knots."""
    spent_fuel: float = 0.0
    """Litres."""
    start_odometer: float = 0.0
    """Metres at the beginning."""
    end_odometer: float = 0.0
    """Metres at the end."""
    start_time: datetime = _NEVER
    end_time: datetime = _NEVER


class TripItem(ReportItem, frozen=True, gc=False, kw_only=True, rename="camel"):
    """A trip: from the position where the device started to move to that where it stopped."""

    start_position_id: int = 0
    """The position it began with."""
    end_position_id: int = 0
    """The position it ended with."""
    start_lat: float = 0.0
    """Degrees, north positive."""
    start_lon: float = 0.0
    """Degrees, east positive."""
    end_lat: float = 0.0
    """Degrees, north positive."""
    end_lon: float = 0.0
    """Degrees, east positive."""
    start_address: str | None = None
    """Address where it began; null if unknown."""
    end_address: str | None = None
    """Address where it ended; null if unknown."""
    start_place: str | None = None
    """Where it began, in words of the caller: zone, address, or town; null if unknown."""
    end_place: str | None = None
    """Where it ended, in words of the caller: zone, address, or town; null if unknown."""
    duration: int = 0
    driver_id: int | None = None
    """The driver; null if unknown or not accessible."""
    driver_unique_id: str | None = None
    """The driver's unique id; null if unknown, or entered by hand and not accessible."""
    driver_name: str | None = None
    """The driver's name; null if unknown or not accessible."""


class StopItem(ReportItem, frozen=True, gc=False, kw_only=True, rename="camel"):
    """A stop: from the position where the device stopped to that where it started to move."""

    position_id: int = 0
    latitude: float = 0.0
    longitude: float = 0.0
    address: str | None = None
    """Address where it was; null if unknown."""
    place: str | None = None
    """Where it was, in words of the caller: zone, address, or town; null if unknown."""
    duration: int = 0
    engine_hours: int = 0


class SummaryItem(ReportItem, frozen=True, gc=False, kw_only=True, rename="camel"):
    """All positions of a device in the span of the report, or in one day of it."""

    start_hours: int = 0
    """Engine hours at the beginning, in milliseconds."""
    end_hours: int = 0
    """Engine hours at the end, in milliseconds."""
    engine_hours: int = 0


class SensorItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The values of an attribute of positions in an interval, in its unit."""

    device_id: int
    device_name: str
    attribute: str
    """The key of the attribute."""
    unit: str
    """Unit of the values (docs/attributes.md); empty where there is none or it is not known."""
    start_time: datetime
    end_time: datetime
    """When the next interval begins, or the end of the report."""
    count: int
    """How many values there are."""
    minimum: float | None
    """The least value; null without values."""
    mean: float | None
    """The mean of the values; null without values."""
    maximum: float | None
    """The greatest value; null without values."""
    last: float | None
    """The last value; null without values."""
    outside: int | None
    """Milliseconds out of range; null for a sensor without limits."""


class GeofenceVisit(ReportItem, frozen=True, kw_only=True, rename="camel"):
    """A visit to a geofence, from the event of entering it to the event of leaving it; figures are 0."""

    geofence_id: int = 0


class IdlingItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A span in which a device stood with its engine running."""

    device_id: int
    device_name: str
    start_time: datetime
    end_time: datetime
    duration: int
    """Milliseconds."""
    position_id: int
    """The position it began with."""
    latitude: float
    """Degrees, north positive."""
    longitude: float
    """Degrees, east positive."""
    address: str | None
    """Address where it was; null if unknown."""
    place: str | None
    """Where it was, in words of the caller: zone, address, or town; null if unknown."""
    spent_fuel: float
    """Litres; 0 if unknown."""


class UtilisationItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The use of a device on a day with positions; driving, idling and standing are all of the known time."""

    device_id: int
    device_name: str
    start_time: datetime
    """Its first position of the day."""
    end_time: datetime
    """Its last position of the day."""
    driving: int
    """Milliseconds on trips."""
    idling: int
    """Milliseconds with the engine running between trips."""
    standing: int
    """Milliseconds between trips otherwise."""
    engine_hours: int
    """Milliseconds that the engine ran."""
    distance: float
    """Metres on trips."""
    trips: int
    """Trips that began on the day."""
    first_start: datetime | None
    """When the first of them began; null without any."""
    last_end: datetime | None
    """When the last trip of the day ended; null if none did."""


class FuelChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A sudden change of the level of a tank, and where the device was."""

    time: datetime
    """When it was first seen."""
    position_id: int
    """The position that showed it."""
    latitude: float
    """Degrees, north positive."""
    longitude: float
    """Degrees, east positive."""
    litres: float
    """How much; positive."""
    before: float
    """Litres in the tank before."""
    after: float
    """Litres in the tank after."""


class FuelItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fuel of a device in the span of the report, or in one day of it; volumes are litres."""

    device_id: int
    device_name: str
    start_time: datetime
    """Its first position."""
    end_time: datetime
    """Its last position."""
    start_fuel: float | None
    """In the tank at the beginning; null if unknown."""
    end_fuel: float | None
    """In the tank at the end; null if unknown."""
    used: float
    """What the engine used; 0 if unknown."""
    filled: float
    """The sum of the fills."""
    lost: float
    """The sum of the losses."""
    distance: float
    """Metres on trips."""
    consumption: float | None
    """Litres per 100 km; null on less than a kilometre."""
    fills: list[FuelChange]
    """In the order of time."""
    losses: list[FuelChange]
    """In the order of time."""


class DeviceItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A device with its status and its latest place."""

    device_id: int
    device_name: str
    unique_id: str
    """The identifier that the hardware reports."""
    phone: str | None
    """Telephone number."""
    model: str | None
    """Make and model."""
    contact: str | None
    """Whom to ask."""
    status: str
    """online, offline or unknown."""
    last_update: datetime | None
    """When it last sent anything."""
    latitude: float | None
    """Degrees, north positive; null without a position."""
    longitude: float | None
    """Degrees, east positive; null without a position."""
    address: str | None
    """Address where it is; null if unknown."""
    place: str | None
    """Where it is, in words of the caller: zone, address, or town; null if unknown."""


class UsedTime(msgspec.Struct, frozen=True, rename="camel"):
    """How much of a limit of driving is used, in milliseconds."""

    used: int
    """Milliseconds driven."""
    allowed: int
    """Milliseconds that may be driven."""
    left: int
    """Milliseconds that may still be driven; not negative."""


class HoursBreach(msgspec.Struct, frozen=True, rename="camel"):
    """A limit that was exceeded."""

    rule: str
    """driving, daily, weekly, fortnightly, dailyRest or weeklyRest."""
    since: datetime
    """Beginning of the driving, day or week that it is a limit of."""
    at: datetime
    """When it was exceeded."""


class DriverHours(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Driving and resting time of a driver (docs/drivers.md#hours); null is what has no limit."""

    at: datetime
    """The instant that the figures are of: the end of the span, or now."""
    driving: UsedTime | None
    """Since the last break."""
    daily: UsedTime | None
    """Since the last daily rest."""
    weekly: UsedTime | None
    """Since Monday."""
    fortnightly: UsedTime | None
    """Since Monday of the week before."""
    daily_rest_by: datetime | None
    """When the daily rest has to begin at the latest; null after a rest that is long enough."""
    weekly_rest_by: datetime | None
    """When the weekly rest has to begin at the latest; null after a rest that is long enough."""
    breaches: list[HoursBreach]
    """Limits that were exceeded in the span of the report."""


class DriverItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a driver did on the trips of the devices of a report (docs/drivers.md#report)."""

    driver_id: int | None
    """The driver; null if unknown or not accessible."""
    driver_unique_id: str | None
    """The driver's unique id; null of all trips together whose driver is unknown."""
    driver_name: str | None
    """The driver's name; null if unknown or not accessible."""
    trips: int
    """How many."""
    distance: float
    """Metres of all trips."""
    duration: int
    """Milliseconds of all trips: the driving time."""
    accelerations: ScoredCount
    """Alarms `hardAcceleration`."""
    brakings: ScoredCount
    """Alarms `hardBraking`."""
    cornerings: ScoredCount
    """Alarms `hardCornering`."""
    overspeeds: ScoredCount
    """Events `deviceOverspeed`."""
    phone_alarms: ScoredCount
    """Alarms of cameras: phone in hand, looking at a phone."""
    fatigue_alarms: ScoredCount
    """Alarms of cameras: tired driver."""
    speeding: ScoredShare
    """The time above the speed limits of `overspeeds`."""
    score: float | None
    """100 less the points of all these, at least 0; null without a distance."""
    score_formula: str
    """How the score comes about: `max(0, 100 - 2 * 1.5 - 5 * 0.4) = 95`; empty without a distance."""
    hours: DriverHours | None
    """Driving and resting time; null without limits."""


class Presence(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A stay of a device near a place."""

    device_id: int
    device_name: str
    start_time: datetime
    end_time: datetime
    distance: float
    """The least distance from the place, in metres."""


class CombinedItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The route of a device, and what happened on it."""

    device_id: int
    route: list[list[float]] = []
    """Longitude and latitude of each position, in degrees."""
    events: list[Event] = []
    """What happened at one of the positions."""
    positions: list[Position] = []
    """Where the events happened."""

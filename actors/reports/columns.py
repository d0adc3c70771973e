"""Which reports there are, and the columns of their workbooks (docs/reports.md#workbooks).

One description for all forms of a report: the API answers what `read` yields as JSON, a workbook shows it in
`columns` and is downloaded or mailed, and calendars mail its link. To add a report, add it to `REPORTS`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from motorpool.actors.reports.devices import devices
from motorpool.actors.reports.driver_score import ScoredCount
from motorpool.actors.reports.drivers import drivers
from motorpool.actors.reports.events import EventRow, event_rows, events, geofence_visits, visit_rows
from motorpool.actors.reports.fuel import fuel
from motorpool.actors.reports.idling import idling
from motorpool.actors.reports.items import (
    DeviceItem,
    DriverHours,
    DriverItem,
    FuelItem,
    GeofenceVisit,
    IdlingItem,
    Presence,
    SensorItem,
    StopItem,
    SummaryItem,
    TripItem,
    UsedTime,
    UtilisationItem,
)
from motorpool.actors.reports.presence import presences
from motorpool.actors.reports.routes import RouteRow, route, route_rows
from motorpool.actors.reports.sensors import sensors
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.actors.reports.summary import summary
from motorpool.actors.reports.trips import stops, trips
from motorpool.actors.reports.utilisation import utilisation
from motorpool.storage.records import Device, Event, Geofence, Maintenance, Position


class Form(Enum):
    """How a value is shown: the unit of the value, and the unit for the user."""

    TEXT = "text"
    SWITCH = "yes or no"
    TIME = "an instant"
    DURATION = "milliseconds"
    DISTANCE = "metres, as kilometres or miles"
    ALTITUDE = "metres, or feet"
    SPEED = "knots"
    VOLUME = "litres"
    CONSUMPTION = "litres per 100 km"
    COUNT = "a whole number"
    FIGURE = "a number with decimals"
    MEASURE = "the key of an attribute and a number in its unit, or null"
    ATTRIBUTE = "the key of an attribute, in words"
    DEGREES = "degrees"
    PLACE = "latitude, longitude and words"
    EVENT = "an event with what it names, in words"
    EVENT_TYPE = "the type of an event, in words"
    ATTRIBUTES = "a position and the names of its cameras: its attributes, in words"
    STATE = "the status of a device, in words"


@dataclass(frozen=True)
class Column:
    """A column of a workbook."""

    title: str
    """In English; other languages have it in `[headings]` of their catalog."""
    form: Form
    value: Callable[[Any], object]
    """Returns the value of a row; None leaves the cell empty."""
    width: int = 14
    """Characters."""


Read = Callable[[Sources, Viewer, ReportQuery], AsyncGenerator[tuple[Device | None, Sequence[Any]], None]]


async def _as_they_are(sources: Sources, viewer: Viewer, items: Sequence[Any]) -> Sequence[Any]:
    del sources, viewer
    return items


@dataclass(frozen=True)
class Report:
    """A report in all its forms."""

    name: str
    """As in paths."""
    contents: str
    """What it is about, as in "the trips of devices"."""
    read: Read
    """Yields the items of each device in order, some at a time, ordered by the ids of devices; with None
    those that are not of one device."""
    answer: Any
    """The type of its items as JSON."""
    columns: tuple[Column, ...]
    """Of its workbook."""
    _: KW_ONLY
    options: tuple[str, ...] = ()
    """Fields of `ReportQuery` that requests for it may set, beside the devices and the span."""
    required: tuple[str, ...] = ()
    """Such that they have to set."""
    longest: timedelta | None = None
    """The longest span, of one that reads all positions of all devices."""
    limited_by_positions: bool = False
    """Whether its span is limited by `positions.most` and not by `reports.period_limit`."""
    by_device: bool = True
    """Whether a workbook has a sheet for each device, else one for all."""
    has_period: bool = True
    rows: Callable[[Sources, Viewer, Sequence[Any]], Awaitable[Sequence[Any]]] = _as_they_are
    """Adds to some items what only a workbook shows; default: nothing."""

    @property
    def title(self) -> str:
        """The title of its workbook, in English, as column titles are."""
        return self.name.capitalize()


def _each(
    items: Callable[[Sources, Viewer, Device, ReportQuery], AsyncGenerator[Sequence[Any], None]],
) -> Read:
    """Read one device after the other."""

    async def read(
        sources: Sources, viewer: Viewer, query: ReportQuery
    ) -> AsyncGenerator[tuple[Device | None, Sequence[Any]], None]:
        async with aclosing(devices_of(sources, viewer, query, batch=1)) as batches:
            async for (device,) in batches:
                async with aclosing(items(sources, viewer, device, query)) as parts:
                    async for found in parts:
                        yield device, found

    return read


def _event_place(row: EventRow) -> tuple[float, float, str | None] | None:
    position = row.facts.position
    return None if position is None else (position.latitude, position.longitude, row.place)


def _route_place(row: RouteRow) -> tuple[float, float, str | None]:
    position = row.position
    return position.latitude, position.longitude, position.address


def _device_place(row: DeviceItem) -> tuple[float, float, str | None] | None:
    return None if row.latitude is None or row.longitude is None else (row.latitude, row.longitude, row.place)


def _milliseconds(row: GeofenceVisit | Presence) -> float:
    return (row.end_time - row.start_time) / timedelta(milliseconds=1)


def _name(row: Geofence | Maintenance | None) -> str | None:
    return None if row is None else row.name


def _counted(title: str, count_of: Callable[[DriverItem], ScoredCount]) -> tuple[Column, Column]:
    """Return the columns of something that is counted."""
    return (
        Column(title, Form.COUNT, lambda each: count_of(each).count),
        Column(f"{title} per 100 km", Form.FIGURE, lambda each: count_of(each).per_100_km),
    )


def _left(of: Callable[[DriverHours], UsedTime | None]) -> Callable[[DriverItem], int | None]:
    """Return the value of a column of what may still be driven."""

    def left(item: DriverItem) -> int | None:
        time = None if item.hours is None else of(item.hours)
        return None if time is None else time.left

    return left


TIME, TEXT, PLACE = Form.TIME, Form.TEXT, Form.PLACE
DISTANCE, SPEED, VOLUME = Form.DISTANCE, Form.SPEED, Form.VOLUME
ROUTE = (
    Column("Valid", Form.SWITCH, lambda each: each.position.valid, 8),
    Column("Time", TIME, lambda each: each.position.fix_time, 20),
    Column("Latitude", Form.DEGREES, lambda each: each.position.latitude),
    Column("Longitude", Form.DEGREES, lambda each: each.position.longitude),
    Column("Altitude", Form.ALTITUDE, lambda each: each.position.altitude),
    Column("Speed", SPEED, lambda each: each.position.speed),
    Column("Address", PLACE, _route_place, 30),
    Column("Attributes", Form.ATTRIBUTES, lambda each: each, 60),
)
EVENTS = (
    Column("Time", TIME, lambda each: each.facts.event.event_time, 20),
    Column("Type", Form.EVENT_TYPE, lambda each: each.facts.event.type, 22),
    Column("Geofence Name", TEXT, lambda each: _name(each.facts.geofence), 22),
    Column("Maintenance Name", TEXT, lambda each: _name(each.facts.maintenance), 22),
    Column("Address", PLACE, _event_place, 30),
    Column("Attributes", Form.EVENT, lambda each: each.facts, 60),
)
TRIPS = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("Start Address", PLACE, lambda each: (each.start_lat, each.start_lon, each.start_place), 30),
    Column("Start Odometer", DISTANCE, lambda each: each.start_odometer),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("End Address", PLACE, lambda each: (each.end_lat, each.end_lon, each.end_place), 30),
    Column("End Odometer", DISTANCE, lambda each: each.end_odometer),
    Column("Duration", Form.DURATION, lambda each: each.duration),
    Column("Length", DISTANCE, lambda each: each.distance),
    Column("Top speed", SPEED, lambda each: each.max_speed),
    Column("Average speed", SPEED, lambda each: each.average_speed),
    Column("Spent Fuel", VOLUME, lambda each: each.spent_fuel),
    Column("Driver", TEXT, lambda each: each.driver_name or each.driver_unique_id, 22),
)
STOPS = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("Start Address", PLACE, lambda each: (each.latitude, each.longitude, each.place), 30),
    Column("Odometer", DISTANCE, lambda each: each.start_odometer),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Duration", Form.DURATION, lambda each: each.duration),
    Column("Engine Hours", Form.DURATION, lambda each: each.engine_hours),
    Column("Spent Fuel", VOLUME, lambda each: each.spent_fuel),
)
SUMMARY = (
    Column("Device", TEXT, lambda each: each.device_name, 22),
    Column("Start Date", TIME, lambda each: each.start_time, 20),
    Column("Distance", DISTANCE, lambda each: each.distance),
    Column("Start Odometer", DISTANCE, lambda each: each.start_odometer),
    Column("End Odometer", DISTANCE, lambda each: each.end_odometer),
    Column("Top speed", SPEED, lambda each: each.max_speed),
    Column("Average speed", SPEED, lambda each: each.average_speed),
    Column("Engine Hours", Form.DURATION, lambda each: each.engine_hours),
    Column("Spent Fuel", VOLUME, lambda each: each.spent_fuel),
)
SENSORS = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("Sensor", Form.ATTRIBUTE, lambda each: each.attribute, 22),
    Column("Minimum", Form.MEASURE, lambda each: (each.attribute, each.minimum)),
    Column("Mean", Form.MEASURE, lambda each: (each.attribute, each.mean)),
    Column("Maximum", Form.MEASURE, lambda each: (each.attribute, each.maximum)),
    Column("Last value", Form.MEASURE, lambda each: (each.attribute, each.last)),
    Column("Readings", Form.COUNT, lambda each: each.count, 10),
    Column("Out of range", Form.DURATION, lambda each: each.outside),
)
IDLING = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Duration", Form.DURATION, lambda each: each.duration),
    Column("Address", PLACE, lambda each: (each.latitude, each.longitude, each.place), 30),
    Column("Spent Fuel", VOLUME, lambda each: each.spent_fuel),
)
UTILISATION = (
    Column("Device", TEXT, lambda each: each.device_name, 22),
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Driving", Form.DURATION, lambda each: each.driving),
    Column("Idling", Form.DURATION, lambda each: each.idling),
    Column("Standing", Form.DURATION, lambda each: each.standing),
    Column("Engine Hours", Form.DURATION, lambda each: each.engine_hours),
    Column("Distance", DISTANCE, lambda each: each.distance),
    Column("Trips", Form.COUNT, lambda each: each.trips, 8),
    Column("First Start", TIME, lambda each: each.first_start, 20),
    Column("Last End", TIME, lambda each: each.last_end, 20),
)
FUEL = (
    Column("Device", TEXT, lambda each: each.device_name, 22),
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Start Fuel", VOLUME, lambda each: each.start_fuel),
    Column("End Fuel", VOLUME, lambda each: each.end_fuel),
    Column("Used", VOLUME, lambda each: each.used),
    Column("Fills", Form.COUNT, lambda each: len(each.fills), 8),
    Column("Filled", VOLUME, lambda each: each.filled),
    Column("Losses", Form.COUNT, lambda each: len(each.losses), 8),
    Column("Lost", VOLUME, lambda each: each.lost),
    Column("Distance", DISTANCE, lambda each: each.distance),
    Column("Consumption", Form.CONSUMPTION, lambda each: each.consumption, 16),
)
VISITS = (
    Column("Geofence Name", TEXT, lambda each: each.geofence, 22),
    Column("Start", TIME, lambda each: each.visit.start_time, 20),
    Column("End", TIME, lambda each: each.visit.end_time, 20),
    Column("Duration", Form.DURATION, lambda each: _milliseconds(each.visit)),
)
PRESENCE = (
    Column("Device", TEXT, lambda each: each.device_name, 22),
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Duration", Form.DURATION, _milliseconds),
    Column("Least distance", Form.ALTITUDE, lambda each: each.distance),
)
DEVICES = (
    Column("Name", TEXT, lambda each: each.device_name, 22),
    Column("Unique ID", TEXT, lambda each: each.unique_id, 22),
    Column("Phone", TEXT, lambda each: each.phone, 18),
    Column("Model", TEXT, lambda each: each.model, 18),
    Column("Contact", TEXT, lambda each: each.contact, 22),
    Column("Status", Form.STATE, lambda each: each.status, 10),
    Column("Last Update", TIME, lambda each: each.last_update, 20),
    Column("Address", PLACE, _device_place, 30),
)
DRIVERS = (
    Column("Driver", TEXT, lambda each: each.driver_name or each.driver_unique_id, 22),
    Column("Trips", Form.COUNT, lambda each: each.trips, 8),
    Column("Length", DISTANCE, lambda each: each.distance),
    Column("Duration", Form.DURATION, lambda each: each.duration),
    Column("Score", Form.FIGURE, lambda each: each.score, 8),
    *_counted("Hard accelerations", lambda each: each.accelerations),
    *_counted("Hard brakings", lambda each: each.brakings),
    *_counted("Hard cornerings", lambda each: each.cornerings),
    *_counted("Overspeeds", lambda each: each.overspeeds),
    Column("Time above the limit", Form.DURATION, lambda each: each.speeding.duration),
    *_counted("Phone alarms", lambda each: each.phone_alarms),
    *_counted("Fatigue alarms", lambda each: each.fatigue_alarms),
    Column("Driving left", Form.DURATION, _left(lambda hours: hours.driving)),
    Column("Daily driving left", Form.DURATION, _left(lambda hours: hours.daily)),
    Column("Weekly driving left", Form.DURATION, _left(lambda hours: hours.weekly)),
    Column("Fortnightly driving left", Form.DURATION, _left(lambda hours: hours.fortnightly)),
    Column("Limits exceeded", Form.COUNT, lambda each: each.hours and len(each.hours.breaches), 8),
    Column("Formula of the score", TEXT, lambda each: each.score_formula, 40),
)

REPORTS: Mapping[str, Report] = {
    report.name: report
    for report in (
        Report(
            "route",
            "the positions of devices",
            route,
            list[Position],
            ROUTE,
            rows=route_rows,
            limited_by_positions=True,
        ),
        Report(
            "events",
            "the events of devices",
            events,
            list[Event],
            EVENTS,
            rows=event_rows,
            options=("types", "alarms"),
        ),
        Report(
            "summary",
            "the summary of devices",
            _each(summary),
            list[SummaryItem],
            SUMMARY,
            by_device=False,
            options=("daily",),
        ),
        Report("trips", "the trips of devices", _each(trips), list[TripItem], TRIPS),
        Report("stops", "the stops of devices", _each(stops), list[StopItem], STOPS),
        Report(
            "sensors",
            "the values of sensors over time",
            _each(sensors),
            list[SensorItem],
            SENSORS,
            options=("attributes", "interval"),
        ),
        Report(
            "idling", "when devices stood with the engine running", _each(idling), list[IdlingItem], IDLING
        ),
        Report(
            "utilisation",
            "how long devices drove, idled and stood on each day",
            _each(utilisation),
            list[UtilisationItem],
            UTILISATION,
            by_device=False,
        ),
        Report(
            "fuel",
            "the fuel that devices used, took in and lost",
            _each(fuel),
            list[FuelItem],
            FUEL,
            by_device=False,
            options=("daily",),
        ),
        Report(
            "geofences",
            "the visits of devices to geofences that began and ended",
            geofence_visits,
            list[GeofenceVisit],
            VISITS,
            rows=visit_rows,
            options=("geofence_ids",),
        ),
        Report(
            "presence",
            "when devices were near a place",
            presences,
            list[Presence],
            PRESENCE,
            by_device=False,
            options=("radius",),
            required=("latitude", "longitude"),
            longest=timedelta(days=7),
        ),
        Report(
            "drivers",
            "what drivers did on the trips of devices",
            drivers,
            list[DriverItem],
            DRIVERS,
            by_device=False,
            options=("driver_ids",),
        ),
        Report(
            "devices",
            "the devices of the caller",
            devices,
            list[DeviceItem],
            DEVICES,
            by_device=False,
            has_period=False,
        ),
    )
}
"""By their names in paths."""

WORKBOOKS: Mapping[str, tuple[Report, ...]] = {
    **{name: (report,) for name, report in REPORTS.items()},
    "history": (REPORTS["trips"], REPORTS["stops"], REPORTS["route"]),
    "combined": (REPORTS["events"], REPORTS["route"]),
}
"""The reports of each workbook, by its name in paths."""

SCHEDULED = tuple(sorted(["combined", *(name for name, report in REPORTS.items() if report.has_period)]))
"""Reports whose links calendars mail."""

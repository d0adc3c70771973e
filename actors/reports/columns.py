"""Which reports there are, and the columns of their workbooks (docs/reports.md#workbooks).

One description for all forms of a report: the API answers what `read` yields as JSON, a workbook shows it in
`columns` and is downloaded or mailed, and calendars mail its link. To add a report, add it to `REPORTS`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Any

from motorpool.actors.reports.devices import devices
from motorpool.actors.reports.events import event_rows, events, geofence_visits
from motorpool.actors.reports.fuel import fuel
from motorpool.actors.reports.idling import idling
from motorpool.actors.reports.items import (
    DeviceItem,
    FuelItem,
    GeofenceVisit,
    IdlingItem,
    StopItem,
    SummaryItem,
    TripItem,
    UtilisationItem,
)
from motorpool.actors.reports.routes import route
from motorpool.actors.reports.sources import ReportQuery, Sources, Viewer, devices_of
from motorpool.actors.reports.summary import summary
from motorpool.actors.reports.trips import stops, trips
from motorpool.actors.reports.utilisation import utilisation
from motorpool.storage.records import Device, Event, Position


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
    DEGREES = "degrees"
    PLACE = "latitude, longitude and address"


@dataclass(frozen=True)
class Column:
    """A column of a workbook."""

    title: str
    form: Form
    value: Callable[[Any], object]
    """Returns the value of a row; None leaves the cell empty."""
    width: int = 14
    """Characters."""


Read = Callable[[Sources, Viewer, ReportQuery], AsyncGenerator[tuple[Device, Sequence[Any]], None]]


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
    """Yields the items of each device in order, some at a time, ordered by the ids of devices."""
    answer: Any
    """The type of its items as JSON."""
    columns: tuple[Column, ...]
    """Empty: there is no workbook."""
    _: KW_ONLY
    options: tuple[str, ...] = ()
    """Fields of `ReportQuery` that requests for it may set, beside the devices and the span."""
    limited_by_positions: bool = False
    """Whether its span is limited by `positions.most` and not by `reports.period_limit`."""
    by_device: bool = True
    """Whether a workbook has a sheet for each device, else one for all."""
    has_period: bool = True
    rows: Callable[[Sources, Viewer, Sequence[Any]], Awaitable[Sequence[Any]]] = _as_they_are
    """Adds to some items what only a workbook shows; default: nothing."""

    @property
    def title(self) -> str:
        """The title of its workbook."""
        return self.name.capitalize()


def _each(
    items: Callable[[Sources, Viewer, Device, ReportQuery], AsyncGenerator[Sequence[Any], None]],
) -> Read:
    """Read one device after the other."""

    async def read(
        sources: Sources, viewer: Viewer, query: ReportQuery
    ) -> AsyncGenerator[tuple[Device, Sequence[Any]], None]:
        async with aclosing(devices_of(sources, viewer, query, batch=1)) as batches:
            async for (device,) in batches:
                async with aclosing(items(sources, viewer, device, query)) as parts:
                    async for found in parts:
                        yield device, found

    return read


def _attributes(attributes: Mapping[str, object]) -> str:
    return "  ".join(f"{key}={value}" for key, value in sorted(attributes.items()))


def _place(position: Position | DeviceItem | None) -> tuple[float, float, str | None] | None:
    if position is None or position.latitude is None or position.longitude is None:
        return None
    return (position.latitude, position.longitude, position.address)


TIME, TEXT, PLACE = Form.TIME, Form.TEXT, Form.PLACE
DISTANCE, SPEED, VOLUME = Form.DISTANCE, Form.SPEED, Form.VOLUME
ROUTE = (
    Column("Valid", Form.SWITCH, lambda each: each.valid, 8),
    Column("Time", TIME, lambda each: each.fix_time, 20),
    Column("Latitude", Form.DEGREES, lambda each: each.latitude),
    Column("Longitude", Form.DEGREES, lambda each: each.longitude),
    Column("Altitude", Form.ALTITUDE, lambda each: each.altitude),
    Column("Speed", SPEED, lambda each: each.speed),
    Column("Address", PLACE, _place, 30),
    Column("Attributes", TEXT, lambda each: _attributes(each.attributes), 60),
)
EVENTS = (
    Column("Time", TIME, lambda each: each.event.event_time, 20),
    Column("Type", TEXT, lambda each: each.event.type, 22),
    Column("Geofence Name", TEXT, lambda each: each.geofence or None, 22),
    Column("Maintenance Name", TEXT, lambda each: each.maintenance or None, 22),
    Column("Address", PLACE, lambda each: _place(each.position), 30),
    Column("Attributes", TEXT, lambda each: _attributes(each.event.attributes), 60),
)
TRIPS = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("Start Address", PLACE, lambda each: (each.start_lat, each.start_lon, each.start_address), 30),
    Column("Start Odometer", DISTANCE, lambda each: each.start_odometer),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("End Address", PLACE, lambda each: (each.end_lat, each.end_lon, each.end_address), 30),
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
    Column("Start Address", PLACE, lambda each: (each.latitude, each.longitude, each.address), 30),
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
IDLING = (
    Column("Start", TIME, lambda each: each.start_time, 20),
    Column("End", TIME, lambda each: each.end_time, 20),
    Column("Duration", Form.DURATION, lambda each: each.duration),
    Column("Address", PLACE, lambda each: (each.latitude, each.longitude, each.address), 30),
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
DEVICES = (
    Column("Name", TEXT, lambda each: each.device_name, 22),
    Column("Unique ID", TEXT, lambda each: each.unique_id, 22),
    Column("Phone", TEXT, lambda each: each.phone, 18),
    Column("Model", TEXT, lambda each: each.model, 18),
    Column("Contact", TEXT, lambda each: each.contact, 22),
    Column("Status", TEXT, lambda each: each.status, 10),
    Column("Last Update", TIME, lambda each: each.last_update, 20),
    Column("Address", PLACE, _place, 30),
)

REPORTS: Mapping[str, Report] = {
    report.name: report
    for report in (
        Report("route", "the positions of devices", route, list[Position], ROUTE, limited_by_positions=True),
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
            (),
            options=("geofence_ids",),
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
    **{name: (report,) for name, report in REPORTS.items() if report.columns},
    "history": (REPORTS["trips"], REPORTS["stops"], REPORTS["route"]),
}
"""The reports of each workbook, by its name in paths."""

SCHEDULED = tuple(sorted(name for name, report in REPORTS.items() if report.columns and report.has_period))
"""Reports whose links calendars mail."""

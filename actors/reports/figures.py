"""What two positions of a device say about the time between them (docs/reports.md#figures). Pure."""

from datetime import datetime
from typing import Final, Protocol

import msgspec

from motorpool.actors.reports.sources import ReportRules
from motorpool.storage.records import Position

KNOTS_PER_METRE_PER_SECOND: Final = 3600 / 1852
MAX_EXACT: Final = 2.0**53
"""Larger numbers are no figures of a vehicle, and no integers to JSON clients."""


class EndPoint(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What reports need of a position where a span of time begins or ends."""

    position_id: int
    fix_time: datetime
    latitude: float
    longitude: float
    address: str | None = None
    odometer: float = 0.0
    """Metres, as the device sent it; 0 if it did not."""
    total_distance: float = 0.0
    """Metres."""
    hours: float = 0.0
    """Milliseconds."""
    fuel_used: float | None = None
    fuel: float | None = None
    """Litres, both."""
    fuel_level: float | None = None
    """Percent."""
    driver: str | None = None
    """The unique id of the driver."""


def end_point(position: Position) -> EndPoint:
    """Return what reports need of a position."""
    return EndPoint(
        position_id=position.id,
        fix_time=position.fix_time,
        latitude=position.latitude,
        longitude=position.longitude,
        address=position.address,
        odometer=_number(position, "odometer") or 0.0,
        total_distance=_number(position, "totalDistance") or 0.0,
        hours=_number(position, "hours") or 0.0,
        fuel_used=_number(position, "fuelUsed"),
        fuel=_number(position, "fuel"),
        fuel_level=_number(position, "fuelLevel"),
        driver=_text(position, "driverUniqueId"),
    )


class Figures(msgspec.Struct, frozen=True, gc=False):
    """The figures of a span of time."""

    distance: float
    """Metres; never negative."""
    start_odometer: float
    end_odometer: float
    """Metres: what the device sent as `odometer` if it did at both ends; else `totalDistance` at the start,
    and that plus `distance`."""
    spent_fuel: float
    """Litres; negative if it was refuelled."""
    start_hours: int
    end_hours: int
    """Milliseconds."""
    driver: str | None
    """The unique id of the driver at the start, or else at the end."""


def compare(start: EndPoint, end: EndPoint, rules: ReportRules, metres: float = 0.0) -> Figures:
    """Return the figures between two positions of a device with these settings, which came `metres` along."""
    before, after = start.odometer, end.odometer
    if rules.settings.report_ignore_odometer or not before or not after:
        before = start.total_distance
        after = before + metres
    return Figures(
        distance=round(max(0.0, after - before), 2),
        start_odometer=before,
        end_odometer=after,
        spent_fuel=spent_fuel(start, end, rules.settings.fuel_capacity),
        start_hours=round(start.hours),
        end_hours=round(end.hours),
        driver=start.driver or end.driver,
    )


class Fuel(Protocol):
    """What a position tells of the tank."""

    @property
    def fuel_used(self) -> float | None:
        """Litres, since ever."""

    @property
    def fuel(self) -> float | None:
        """Litres in the tank."""

    @property
    def fuel_level(self) -> float | None:
        """Percent of the tank."""


def spent_fuel(start: Fuel, end: Fuel, capacity: float) -> float:
    """Return litres, by what both ends tell; negative after refuelling, 0 if nothing is known."""
    spent = 0.0
    if start.fuel_used is not None and end.fuel_used is not None:
        spent = end.fuel_used - start.fuel_used
    elif start.fuel is not None and end.fuel is not None:
        spent = start.fuel - end.fuel
    elif start.fuel_level is not None and end.fuel_level is not None:
        spent = (start.fuel_level - end.fuel_level) / 100 * capacity
    return round(spent, 2) + 0.0  # no negative zero


def knots(metres: float, seconds: float) -> float:
    """Return the average speed; 0 for no time."""
    return metres / seconds * KNOTS_PER_METRE_PER_SECOND if seconds > 0 else 0.0


def seconds_between(start: EndPoint, end: EndPoint) -> float:
    """Return how long it is from one position to the other."""
    return (end.fix_time - start.fix_time).total_seconds()


def _number(position: Position, key: str) -> float | None:
    value = position.attributes.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -MAX_EXACT < value < MAX_EXACT:
        return None
    return float(value)


def _text(position: Position, key: str) -> str | None:
    value = position.attributes.get(key)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value else None

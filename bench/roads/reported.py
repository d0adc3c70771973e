"""What a server reports of a day."""

from datetime import datetime

import msgspec


class ReportedStop(msgspec.Struct, frozen=True):
    """A stop of the report of stops."""

    start: datetime
    end: datetime


class ReportedTrip(msgspec.Struct, frozen=True):
    """A trip of the report of trips."""

    start: datetime
    end: datetime
    metres: float


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """The reports of one day of a device; times are aware."""

    stops: tuple[ReportedStop, ...]
    """Ascending, like the trips."""
    trips: tuple[ReportedTrip, ...]
    metres: float
    """Distance of the day in the summary."""
    moved: tuple[datetime, ...] = ()
    """Times of its events `deviceMoving`."""
    stopped: tuple[datetime, ...] = ()
    """Times of its events `deviceStopped`."""

"""What the rules remember of a device from one position to the next."""

from collections.abc import Mapping
from typing import Final

import msgspec

from motorpool.actors.rules.overspeed import OverspeedState
from motorpool.actors.rules.trip_detection import TripState
from motorpool.storage.records import Position


class FoldState(msgspec.Struct, frozen=True, gc=False):
    """What the rules remember of a device; the default is that of a device without positions.

    `actors/rules/rebuild.py` makes the same from stored rows.
    """

    latest: Position | None = None
    """The latest position, to which the next report is compared."""
    trip: TripState = TripState()
    day: int = 0
    """The day of its fix time in UTC, as of `date.toordinal`."""
    stored_that_day: int = 0
    """Positions stored so far whose fix times have that day; those from the future do not count."""
    overspeed: OverspeedState = OverspeedState()
    near: Mapping[int, bool] = {}
    """By linked device: whether it was close; one of which that is not known is missing."""


NOTHING_STORED: Final = FoldState()
"""The state of all devices without positions."""

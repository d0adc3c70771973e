"""Measures how far a device came along its positions, but not how far its receiver drifted
(docs/reports.md#distance).

Pure.
"""

from datetime import timedelta
from typing import Final

import msgspec

from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.trip_detection import FAST_KNOTS, KNOT, TrackPoint, is_reachable

STEP: Final = 15.0
"""Metres that a moving device comes along before they count, twice as many where it reports no speed."""
SPARE: Final = 0.4
"""Metres a second squared: a vehicle may have come so much further than its speeds before and after tell."""
STRAY: Final = 100.0
"""Metres further than that from the last point that counts, where a point is left out."""
UNTIL_BELIEVED: Final = timedelta(days=1)
"""Points without a fix do not count unless there was none with a fix for so long."""


class PathState(msgspec.Struct, frozen=True, gc=False):
    """Where the measurement stands between two points."""

    mark: TrackPoint | None = None
    """Up to which the way is counted."""
    latest: TrackPoint | None = None
    most: float = 0.0
    """Metres that the device can have come since `mark`, by the speeds that it has reported."""


class Path:
    """Adds up the way between points that are a step apart.

    It does so in whole centimetres, so that sums do not depend on where they began.
    """

    def __init__(self, state: PathState, implausible_speed: float) -> None:
        self._mark, self._latest, self._most = state.mark, state.latest, state.most
        self._limit = implausible_speed

    @property
    def state(self) -> PathState:
        """Where the measurement stands."""
        return PathState(self._mark, self._latest, self._most)

    def add(self, point: TrackPoint) -> int:
        """Return the centimetres that `point` adds."""
        mark, latest = self._mark, self._latest
        if (
            mark is not None
            and mark.valid
            and not point.valid
            and point.fix_time - mark.fix_time < UNTIL_BELIEVED
        ):
            return 0
        self._latest = point
        if mark is None or latest is None or (self._limit and not is_reachable(latest, point, self._limit)):
            self._mark, self._most = point, 0.0
            return 0
        seconds = (point.fix_time - latest.fix_time).total_seconds()
        self._most += seconds * ((latest.speed + point.speed) / 2 * KNOT + SPARE * seconds)
        metres = great_circle(mark.latitude, mark.longitude, point.latitude, point.longitude)
        if metres < STEP:
            return 0
        if max(mark.speed, latest.speed, point.speed) >= FAST_KNOTS:
            if metres > self._most + STRAY:
                return 0
            metres = min(metres, self._most)
        elif metres < 2 * STEP:
            return 0
        self._mark, self._most = point, 0.0
        return round(metres * 100)

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
DOUBTFUL: Final = 2.0
"""Times as far as the speeds tell, and STRAY further: a point there counts if the next one agrees."""
UNTIL_BELIEVED: Final = timedelta(days=1)
"""Points without a fix do not count unless there was none with a fix for so long."""
FASTEST: Final = 1e6
"""Knots. No vehicle is as fast, but devices report any number."""
SILENCE: Final = 1800.0
"""Seconds without points after which one counts until the next one shows that it was wrong."""


class PathState(msgspec.Struct, frozen=True, gc=False):
    """Where the measurement stands between two points."""

    mark: TrackPoint | None = None
    """Up to which the way is counted."""
    latest: TrackPoint | None = None
    likely: float = 0.0
    """Metres from `mark` to `latest`, by the speeds that the device has reported."""
    most: float = 0.0
    """Metres that it can have come there at most, by these speeds."""
    is_doubtful: bool = False
    """Whether `latest` counts only if the next point agrees."""
    counted: int = 0
    """Centimetres of it that are counted until then."""


class Path:
    """Adds up the way between points that are a step apart.

    It does so in whole centimetres, so that sums do not depend on where they began.
    """

    def __init__(self, state: PathState, implausible_speed: float) -> None:
        self._mark, self.latest = state.mark, state.latest
        self._likely, self._most = state.likely, state.most
        self._is_doubtful, self._counted = state.is_doubtful, state.counted
        self._limit = implausible_speed

    @property
    def state(self) -> PathState:
        """Where the measurement stands."""
        return PathState(self._mark, self.latest, self._likely, self._most, self._is_doubtful, self._counted)

    def add(self, point: TrackPoint) -> tuple[int, int]:
        """Return the centimetres that the point before adds after all, negative if it does not add what was
        counted, and those that `point` does.
        """
        mark, latest = self._mark, self.latest
        if (
            mark is not None
            and mark.valid
            and not point.valid
            and point.fix_time - mark.fix_time < UNTIL_BELIEVED
        ):
            return 0, 0
        self.latest = point
        if mark is None or latest is None:
            self._begin(point)
            return 0, 0
        seconds = (point.fix_time - latest.fix_time).total_seconds()
        likely = seconds * (_speed(latest) + _speed(point)) / 2 * KNOT
        most = likely + SPARE * seconds * seconds
        late = 0
        if self._is_doubtful:
            late = -self._counted
            back = _metres(latest, point)
            if back <= max(most + STRAY, _metres(mark, point)):
                late += self._way(mark, latest, _metres(mark, latest))
                mark = latest
                self._begin(mark)
            self._is_doubtful, self._counted = False, 0
        if self._limit and not is_reachable(mark, point, self._limit):
            self._begin(point)
            return late, 0
        self._likely += likely
        self._most += most
        metres = great_circle(mark.latitude, mark.longitude, point.latitude, point.longitude)
        if metres < STEP:
            return late, 0
        is_fast = max(mark.speed, latest.speed, point.speed) >= FAST_KNOTS
        if metres < 2 * STEP and not is_fast:
            return late, 0
        centimetres = self._way(mark, point, metres)
        if seconds > SILENCE:
            self._is_doubtful, self._counted = True, centimetres
            return late, centimetres
        if metres > DOUBTFUL * self._likely + STRAY:
            self._is_doubtful = True
            return late, 0
        self._begin(point)
        return late, centimetres

    def _begin(self, mark: TrackPoint) -> None:
        self._mark, self._likely, self._most = mark, 0.0, 0.0

    def _way(self, mark: TrackPoint, point: TrackPoint, metres: float) -> int:
        """Return the centimetres up to `point`."""
        if max(mark.speed, point.speed) >= FAST_KNOTS:
            metres = min(metres, self._most)
        return round(metres * 100)


def _speed(point: TrackPoint) -> float:
    return min(max(point.speed, 0.0), FASTEST)


def _metres(start: TrackPoint, end: TrackPoint) -> float:
    return great_circle(start.latitude, start.longitude, end.latitude, end.longitude)

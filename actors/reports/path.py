"""Measures how far a device came along its positions, without the drift of its receiver
(docs/reports.md#distance). Pure.
"""

from collections.abc import Callable
from typing import Final

from motorpool.actors.rules.distance import great_circle
from motorpool.actors.rules.trip_detection import TrackPoint

STEP: Final = 15.0
"""Metres: a receiver that stands still drifts by less most of the time."""


class Path:
    """Adds up the way between points that are STEP or more apart, in whole centimetres: so sums do not depend on where
    they were begun.
    """

    def __init__(self, mark: TrackPoint | None, is_reachable: Callable[[TrackPoint, TrackPoint], bool]) -> None:
        self.mark = mark
        """The point up to which the way is counted."""
        self._is_reachable = is_reachable

    def add(self, point: TrackPoint) -> int:
        """Return the centimetres that `point` adds."""
        mark = self.mark
        if mark is None or not self._is_reachable(mark, point):
            self.mark = point
            return 0
        metres = great_circle(mark.latitude, mark.longitude, point.latitude, point.longitude)
        if metres < STEP:
            return 0
        self.mark = point
        return round(metres * 100)

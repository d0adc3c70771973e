"""Which reports of a day can be relied on, and so what any server could know."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timedelta

from motorpool.bench.roads.day import Day
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.truth import MIN_DURATION, Stop

LEAST_TOLERANCE = 15.0
"""Seconds; what an interval counts as if it is shorter."""
SLIGHT_METRES = 25.0
"""A move that is no longer can be the drift of a receiver."""
SOUND_METRES = 200.0
"""A fix that is further off is not relied on."""


class SoundReports:
    """When reports were made whose fix, place and time are right."""

    def __init__(self, day: Day) -> None:
        self.instants: Sequence[datetime] = sorted(
            {
                report.instant
                for report in day.reports
                if report.valid
                and report.fix_time == report.instant
                and Place(report.latitude, report.longitude).metres_to(
                    Place(report.true_latitude, report.true_longitude)
                )
                < SOUND_METRES
            }
        )
        self.margin = timedelta(seconds=max(day.interval_seconds, LEAST_TOLERANCE))
        """One interval, or 15 s."""

    def observe(self, instant: datetime) -> bool:
        """Whether one was made within the margin before or after an instant."""
        index = bisect_left(self.instants, instant - self.margin)
        return index < len(self.instants) and self.instants[index] <= instant + self.margin


def debatable_halts(day: Day, sound: SoundReports) -> list[Stop]:
    """Return where the vehicle nearly stopped: these reports cannot tell that from a stop.

    It halted for little less than a stop takes, or moved no more than SLIGHT_METRES in that time or longer.
    """
    least = timedelta(seconds=MIN_DURATION) - sound.margin
    metres, halts = day.track.metres, day.halts
    found: list[Stop] = []
    for index, (start, end) in enumerate(halts):
        seconds = (day.second(start), day.second(end))
        for _, later in halts[index + 1 :]:
            if metres[int(day.second(later))] - metres[int(seconds[0])] > SLIGHT_METRES:
                break
            end = later  # noqa: PLW2901 - the end of the last halt that it came to
        if end - start < least or any(stop.start < end and start < stop.end for stop in day.stops):
            continue
        if found and start <= found[-1].end:
            found[-1] = Stop(found[-1].start, max(end, found[-1].end), 0.0, 0.0, "halt")
        else:
            found.append(Stop(start, end, 0.0, 0.0, "halt"))
    return found

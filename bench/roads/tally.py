"""Comparisons of many days together."""

from collections.abc import Iterable, Sequence
from math import ceil

from motorpool.bench.roads.comparison import Comparison
from motorpool.bench.roads.stop_comparison import Miss


class Tally:
    """What many comparisons say together; shares are 0 to 1, and 0 of nothing."""

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        stops, trips = [each.stops for each in comparisons], [each.trips for each in comparisons]
        self.days = len(comparisons)
        self.begins = [miss for each in stops for miss in each.begins]
        self.ends = [miss for each in stops for miss in each.ends]
        self.unobserved = sum(each.unobserved for each in stops)
        self.stops = sum(each.judged for each in stops)
        self.missed_stops = sum(each.missed for each in stops)
        self.extra_stops = sum(each.extra for each in stops)
        self.short_stops = sum(each.short_stops for each in comparisons)
        self.trips = sum(each.trips for each in trips)
        self.missed_trips = sum(each.missed for each in trips)
        self.extra_trips = sum(each.extra for each in trips)
        self.distances = sorted(abs(error) for each in trips for error in each.distances)
        self.durations = sorted(abs(error) for each in trips for error in each.durations)
        self.distance_error = _ratio(
            sum(each.reported_metres - each.true_metres for each in trips),
            sum(each.true_metres for each in trips),
        )
        """Of all trips together; positive: too long."""
        self.added_metres_an_hour = _ratio(
            sum(each.added_metres for each in trips), sum(each.standing_hours for each in trips)
        )
        self.differing_events = sum(each.differing_events for each in comparisons if each.is_in_order)
        """Of days whose reports arrived in order."""

    @property
    def missed_or_extra(self) -> float:
        """Stops and trips that are missed or extra, as a share of those that there are."""
        wrong = self.missed_stops + self.extra_stops + self.missed_trips + self.extra_trips
        return _ratio(wrong, self.stops + self.trips)


def share_of(flags: Iterable[bool]) -> float:
    """Return the share of those that are true; 0 of nothing."""
    found = list(flags)
    return _ratio(sum(found), len(found))


def percentile(ascending: Sequence[float], part: float) -> float:
    """Return the value that this part of all does not exceed (nearest rank); 0 of nothing."""
    return ascending[max(0, ceil(part * len(ascending)) - 1)] if ascending else 0.0


def seconds_off(misses: Iterable[Miss]) -> list[float]:
    """Return by how many seconds they are off either way, ascending."""
    return sorted(abs(miss.seconds) for miss in misses)


def intervals_off(misses: Iterable[Miss]) -> list[float]:
    """Return by how many intervals of the tracker they are off either way, ascending."""
    return sorted(abs(miss.seconds) / miss.interval for miss in misses)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0

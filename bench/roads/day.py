"""Makes a day: the true motion, the reports of it, and its stops and trips."""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from math import sin
from statistics import median

from motorpool.bench.roads.conditions import Conditions, with_overrides
from motorpool.bench.roads.driving import Vehicle
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.journey import DAY_SECONDS, Journey
from motorpool.bench.roads.kinds import KINDS
from motorpool.bench.roads.receiver import Fix, Receiver
from motorpool.bench.roads.report import Report
from motorpool.bench.roads.track import Track
from motorpool.bench.roads.tracker import clock_errors, instants, sendings
from motorpool.bench.roads.truth import MIN_DURATION, Stay, Stop, Trip, long_stays

START = datetime(2025, 3, 4, tzinfo=UTC)
"""The usual day."""
TOWNS = (
    Place(52.52, 13.40),
    Place(-23.55, -46.63),
    Place(59.91, 10.75),
    Place(-1.29, 36.82),
    Place(35.68, 139.69),
    Place(-33.87, 151.21),
    Place(40.42, -3.70),
)


class Day:
    """What a vehicle did in 24 hours, and what its tracker told of it."""

    def __init__(
        self,
        kind: str,
        seed: int,
        start: datetime,
        conditions: Conditions,
        track: Track,
        stays: Sequence[Stay],
        reports: tuple[Report, ...],
        min_duration: int,
    ) -> None:
        self.kind = kind
        self.seed = seed
        self.start = start
        """Its first instant."""
        self.conditions = conditions
        self.reports = reports
        """In the order in which they reach the server; those that are sent twice are there twice."""
        self.track = track
        self._halts = track.halts()
        stays = long_stays(stays, self._halts, min_duration)
        self.stops = tuple(self._stop(stay) for stay in stays)
        self.trips = tuple(self._trips(stays))

    @property
    def end(self) -> datetime:
        """Its last instant."""
        return self.start + timedelta(seconds=DAY_SECONDS)

    @cached_property
    def interval_seconds(self) -> float:
        """Between two reports on a trip: as set in the tracker; the median, if it reports by distance."""
        if self.conditions.change_metres is None:
            return self.conditions.interval_seconds
        made = sorted({report.instant for report in self.reports})
        gaps = [
            (after - before).total_seconds()
            for before, after in pairwise(made)
            if any(trip.start <= before and after <= trip.end for trip in self.trips)
        ]
        return median(gaps) if gaps else self.conditions.interval_seconds

    @property
    def halts(self) -> tuple[tuple[datetime, datetime], ...]:
        """All spans in which the vehicle stands, however short."""
        return tuple((self.instant(start), self.instant(end)) for start, end in self._halts)

    def instant(self, second: float) -> datetime:
        """Return the instant of a second of the day."""
        return self.start + timedelta(seconds=second)

    def second(self, instant: datetime) -> float:
        """Return the second of the day of an instant."""
        return (instant - self.start).total_seconds()

    def place_at(self, instant: datetime) -> Place:
        """Return where the vehicle truly is; before and after the day where it began and ended."""
        return self.track.place_at(self.second(instant))

    def metres_at(self, instants: Sequence[datetime]) -> float:
        """Return the length of the true path sampled at ascending instants, in straight pieces.

        Of each trip count the instants within it, and its ends where there are instants beyond them. Stops
        add nothing.
        """
        return sum(self._trip_metres_at(trip, instants) for trip in self.trips)

    def _trip_metres_at(self, trip: Trip, instants: Sequence[datetime]) -> float:
        first, last = bisect_left(instants, trip.start), bisect_right(instants, trip.end)
        sampled = [
            *([trip.start] if first > 0 else []),
            *instants[first:last],
            *([trip.end] if last < len(instants) else []),
        ]
        places = [self.place_at(instant) for instant in sampled]
        return sum(start.metres_to(end) for start, end in pairwise(places))

    def _stop(self, stay: Stay) -> Stop:
        within = [halt for halt in self._halts if stay.start <= halt[0] and halt[1] <= stay.end]
        longest = max(within, key=lambda halt: halt[1] - halt[0], default=(stay.start, stay.end))
        place = self.track.place(longest[0])
        start, end = self.instant(stay.start), self.instant(stay.end)
        return Stop(start, end, place.latitude, place.longitude, stay.kind)

    def _trips(self, stops: Sequence[Stay]) -> Iterator[Trip]:
        ends = [0, *(stop.end for stop in stops)]
        starts = [*(stop.start for stop in stops), self.track.last]
        for start, end in zip(ends, starts, strict=True):
            if end > start:
                yield Trip(
                    self.instant(start), self.instant(end), self.track.metres[end] - self.track.metres[start]
                )


def make_day(
    kind: str, seed: int, *, start: datetime = START, min_duration: int = MIN_DURATION, **overrides: object
) -> Day:
    """Make the day of a vehicle; the same arguments make the same day.

    `overrides` are fields of `Conditions` in place of what is drawn from the seed. Those of the receiver and
    the tracker leave the true motion as it is.

    Raises:
        KeyError: there is no such kind.
        TypeError: there is no such condition.
    """
    described = KINDS[kind]

    def rng(part: str) -> random.Random:
        return random.Random(f"{kind}, {seed}, {part}")

    conditions = with_overrides(described.conditions(rng("conditions")), overrides)
    drawn = rng("road")
    town = drawn.choice(TOWNS).moved(drawn.uniform(-5000.0, 5000.0), drawn.uniform(-5000.0, 5000.0))
    vehicle = Vehicle(drawn.uniform(*described.acceleration), drawn.uniform(*described.braking))
    journey = Journey(town, conditions, vehicle, drawn)
    described.spend_day(journey)
    journey.finish()
    reports = _reports(journey.track, conditions, start, rng)
    return Day(kind, seed, start, conditions, journey.track, journey.stays, reports, min_duration)


def _reports(
    track: Track, conditions: Conditions, start: datetime, rng: Callable[[str], random.Random]
) -> tuple[Report, ...]:
    receiver = Receiver(track, conditions, rng("receiver"))
    made: list[tuple[int, Fix]] = []
    for second, is_wake in instants(track, conditions, rng("tracker")):
        if is_wake:
            receiver.start(second)
        fix = receiver.fix(second)
        if fix is not None:
            made.append((second, fix))
    errors = clock_errors(len(made), conditions, rng("clock"))
    life_metres = rng("odometer").uniform(1e6, 3e8)
    altitude = rng("altitude").uniform(0.0, 800.0)

    def report(index: int, sent: float, *, is_archived: bool) -> Report:
        second, fix = made[index]
        true = track.place(second)
        told = min(max(0, second + errors.get(index, 0)), DAY_SECONDS)
        return Report(
            instant=start + timedelta(seconds=second),
            true_latitude=true.latitude,
            true_longitude=true.longitude,
            sent_time=start + timedelta(seconds=sent),
            fix_time=start + timedelta(seconds=told),
            valid=fix.valid,
            latitude=round(fix.place.latitude, 6),
            longitude=round(fix.place.longitude, 6),
            altitude=round(altitude + 10.0 * sin(second / 600.0)),
            speed_knots=round(fix.speed_knots, 1),
            course=round(fix.course) % 360,
            ignition=bool(track.ignition[second]) if conditions.ignition else None,
            odometer=round(life_metres + track.metres[second]) if conditions.odometer else None,
            archived=is_archived,
        )

    sent = sendings([second for second, _ in made], conditions, rng("network"))
    return tuple(report(each.report, each.second, is_archived=each.is_archived) for each in sent)

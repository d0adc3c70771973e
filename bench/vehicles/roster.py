"""When a vehicle is at work: shifts with trips, breaks and nights, as a function of the time.

A drive goes on without a break; a roster says which of its seconds belongs to a given time. Vehicles stand
where their drive waits at a light, so that they brake before and accelerate after. Every shift has the same
number of rounds, so that each begins and ends at the same place, the depot.
"""

import bisect
import random
from typing import NamedTuple

import msgspec

from motorpool.bench.vehicles.route import Drive, VehicleState

DAY_SECONDS = 86_400.0
LEG_SECONDS = (480.0, 1800.0)
"""Shortest and longest time that is driven without a break; the way to the next stop comes on top."""
RUNS_AFTER_SECONDS, RUNS_BEFORE_SECONDS = 45.0, 30.0
"""How long the engine runs after a trip, and before the next one."""
KEPT_DAYS = 4


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """Hours of work of each day."""

    start_hour: float
    """In UTC."""
    hours: float
    """At most 23."""
    driving_share: float = 0.75
    """Share of the shift that is driven; the rest are breaks."""
    alarms: int = 0
    """Alarms of the driver or of driver assistance in a shift."""


class Leg(NamedTuple):
    """A trip between two stops; times are seconds since the start of the shift."""

    begin: float
    end: float
    driven: float
    """Seconds driven in this shift before it."""


class Roster:
    """The shifts of one vehicle. Arguments named `seconds` have the same origin as in `Drive.at`."""

    def __init__(self, drive: Drive, shift: Shift, seed: int) -> None:
        self._drive = drive
        self._shift = shift
        self._seed = seed
        self._length = shift.hours * 3600
        self._rounds = max(1, int(self._length * shift.driving_share / drive.seconds))
        waits = drive.waits()
        self._depot = waits[0]
        self._stops = [wait - waits[0] for wait in waits]
        self._days: dict[int, list[Leg]] = {}

    def state_at(self, seconds: float) -> VehicleState:
        """Return position and speed."""
        day, within = self._day(seconds)
        legs = self._legs(day)
        index = bisect.bisect_right(legs, within, key=lambda leg: leg.begin) - 1
        driven, stands = 0.0, True
        if index >= 0:
            leg = legs[index]
            driven, stands = leg.driven + min(within, leg.end) - leg.begin, within >= leg.end
        rounds = day * self._rounds * self._drive.seconds
        state = self._drive.at(self._depot + rounds + driven)
        # A drive without a red light does not stand anywhere.
        return state._replace(speed=0.0, acceleration=0.0, turning=0.0) if stands else state

    def is_running(self, seconds: float) -> bool:
        """Return whether the engine runs."""
        day, within = self._day(seconds)
        return any(
            leg.begin - RUNS_BEFORE_SECONDS <= within <= leg.end + RUNS_AFTER_SECONDS
            for leg in self._legs(day)
        )

    def starts_in(self, seconds: float) -> float:
        """Return the seconds until the engine is started next, 0 if it runs."""
        if self.is_running(seconds):
            return 0.0
        day, within = self._day(seconds)
        begins = [leg.begin - RUNS_BEFORE_SECONDS - within for leg in self._legs(day)]
        begins.append(DAY_SECONDS + self._legs(day + 1)[0].begin - RUNS_BEFORE_SECONDS - within)
        return min(begin for begin in begins if begin >= 0)

    def is_at_work(self, seconds: float) -> bool:
        """Return whether this is within a shift, breaks included."""
        return self._day(seconds)[1] <= self._length + RUNS_BEFORE_SECONDS + RUNS_AFTER_SECONDS

    def alarms_between(self, after: float, until: float) -> list[float]:
        """Return the instants of alarms, `after` excluded and `until` included."""
        found = []
        for day in range(self._day(after)[0], self._day(until)[0] + 1):
            rng = random.Random(f"alarms/{self._seed}/{day}")
            for leg in rng.sample(self._legs(day), min(self._shift.alarms, len(self._legs(day)))):
                within = leg.begin + rng.uniform(0.2, 0.8) * (leg.end - leg.begin)
                instant = day * DAY_SECONDS + self._shift.start_hour * 3600 + within
                if after < instant <= until:
                    found.append(instant)
        return sorted(found)

    def _day(self, seconds: float) -> tuple[int, float]:
        day, within = divmod(seconds - self._shift.start_hour * 3600, DAY_SECONDS)
        return int(day), within

    def _legs(self, day: int) -> list[Leg]:
        legs = self._days.get(day)
        if legs is None:
            while len(self._days) >= KEPT_DAYS:
                del self._days[next(iter(self._days))]
            legs = self._days[day] = self._plan(random.Random(f"{self._seed}/{day}"))
        return legs

    def _plan(self, rng: random.Random) -> list[Leg]:
        """Divide the rounds of a shift into legs, and the rest of its time into breaks between them."""
        whole = self._rounds * self._drive.seconds
        stops = [
            stop + number * self._drive.seconds for number in range(self._rounds) for stop in self._stops
        ]
        ends: list[float] = []
        driven = 0.0
        while driven < whole:
            at = bisect.bisect_left(stops, driven + rng.uniform(*LEG_SECONDS))
            driven = stops[at] if at < len(stops) and stops[at] < whole - LEG_SECONDS[0] else whole
            ends.append(driven)
        weights = [rng.uniform(0.3, 1.7) for _ in ends[1:]]
        if weights:
            weights[len(weights) // 2] += 2.0
        spare = max(0.0, self._length - whole)
        legs, begin, driven = [], RUNS_BEFORE_SECONDS, 0.0
        for end, weight in zip(ends, [*weights, 0.0], strict=True):
            legs.append(Leg(begin, begin + end - driven, driven))
            begin = legs[-1].end + (spare * weight / sum(weights) if weights else 0.0)
            driven = end
        return legs

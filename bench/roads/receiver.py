"""The fixes that a receiver makes of the true motion."""

import random
from math import cos, exp, pi, sin, sqrt
from typing import NamedTuple

from motorpool.bench.roads.conditions import CANYON_NOISE, Conditions, log_uniform, occurrences
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.track import Sky, Track

KNOT = 1852 / 3600
"""Metres a second."""
LONG_COVER_SECONDS = 600
"""Without satellites for longer, a receiver needs up to 45 s for a fix, else up to 4 s."""
JUMP_METRES = 25_000.0, 500_000.0
JUMP_SECONDS = 240
"""More than 300 km/h after a fix that is no older."""


class Fix(NamedTuple):
    """What the receiver tells at a second."""

    valid: bool
    place: Place
    speed_knots: float
    course: float


class Receiver:
    """Asked for a fix at ascending seconds."""

    def __init__(self, track: Track, conditions: Conditions, rng: random.Random) -> None:
        self._track = track
        self._conditions = conditions
        self._rng = rng
        self._east, self._north = rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)
        """Error in standard deviations."""
        self._second = 0
        self._fix: Fix | None = None
        self._fixed_at = -JUMP_SECONDS
        """The second of the last fix."""
        self._lost = _lost_spans(track, rng)
        self._starts_at = 0
        self._is_started_wrongly = False
        # Of the day, so that they are as many however often it reports.
        jumps = occurrences(rng, conditions.jumps)
        self._jumps = sorted(rng.randrange(len(track)) for _ in range(jumps))
        self._jumps_left = 0
        self._jump = 0.0, 0.0

    def start(self, second: int) -> None:
        """Be switched on, after a sleep: no fix for a while, and perhaps a wrong one first."""
        self._starts_at = second + self._rng.randint(0, 30)
        self._is_started_wrongly = self._rng.random() < self._conditions.cold_starts

    def fix(self, second: int) -> Fix | None:
        """Return the fix, or what is told without one; None: nothing is told."""
        track, rng = self._track, self._rng
        self._drift(second)
        if self._is_lost(second):
            return self._without_fix()
        place = self._seen(second)
        if self._is_started_wrongly:
            self._is_started_wrongly = False
            place = self._far_from(place, log_uniform(rng, 200.0, 3000.0))
        elif rng.random() < self._conditions.outliers:
            place = self._far_from(place, log_uniform(rng, 200.0, 5000.0))
        if self._jumps_left or second - self._fixed_at < JUMP_SECONDS:
            place = self._jumped(second, place)
        self._fixed_at = second
        self._fix = Fix(True, place, self._speed(second), track.courses[second])
        return self._fix

    def _drift(self, second: int) -> None:
        """Let the error change for the time since the last call."""
        kept = exp(-(second - self._second) / self._conditions.noise_seconds)
        fresh = sqrt(1.0 - kept * kept)
        self._east = kept * self._east + fresh * self._rng.gauss(0.0, 1.0)
        self._north = kept * self._north + fresh * self._rng.gauss(0.0, 1.0)
        self._second = second

    def _is_lost(self, second: int) -> bool:
        while self._lost and self._lost[0][1] <= second:
            start, end = self._lost.pop(0)
            if end - start > LONG_COVER_SECONDS:
                self._is_started_wrongly = self._rng.random() < self._conditions.cold_starts
        return second < self._starts_at or bool(self._lost and self._lost[0][0] <= second)

    def _without_fix(self) -> Fix | None:
        loss = self._conditions.fix_loss
        if loss == "silent":
            return None
        if loss == "zero" or self._fix is None:
            return Fix(False, Place(0.0, 0.0), 0.0, 0.0)
        return self._fix._replace(valid=False, speed_knots=0.0)

    def _seen(self, second: int) -> Place:
        track, conditions = self._track, self._conditions
        match Sky(track.sky[second]):
            case Sky.CAR_PARK:
                error = conditions.drift
            case Sky.CANYON if track.speeds[second] > 0.0:
                error = min(conditions.drift, CANYON_NOISE)
            case Sky.CANYON:
                error = conditions.drift
            case _:
                error = conditions.noise
        return track.place(second).moved(error * self._east, error * self._north)

    def _far_from(self, place: Place, metres: float) -> Place:
        angle = self._rng.uniform(0.0, 2 * pi)
        return place.moved(metres * sin(angle), metres * cos(angle))

    def _jumped(self, second: int, place: Place) -> Place:
        conditions, rng = self._conditions, self._rng
        if not self._jumps_left:
            if not self._jumps or second < self._jumps[0]:
                return place
            del self._jumps[0]
            self._jumps_left = 1 if conditions.jump_style == "single" else rng.randint(2, 4)
            self._jump = 0.0, 0.0
        self._jumps_left -= 1
        if self._jump == (0.0, 0.0) or conditions.jump_style == "scattered":
            metres, angle = log_uniform(rng, *JUMP_METRES), rng.uniform(0.0, 2 * pi)
            self._jump = metres * sin(angle), metres * cos(angle)
        return place.moved(*self._jump)

    def _speed(self, second: int) -> float:
        speeds = self._conditions.speeds
        if speeds == "zero":
            return 0.0
        true = self._track.speeds[second] / KNOT
        if true > 0.0:
            return max(0.0, true + self._rng.gauss(0.0, 0.3))
        return 0.0 if speeds == "held" else self._rng.uniform(0.0, 2.0) / 1.852


def _lost_spans(track: Track, rng: random.Random) -> list[tuple[int, int]]:
    """Return the spans without a fix: from where the sky is covered to some time after."""
    spans, second = [], 0
    while (start := track.sky.find(Sky.COVERED, second)) >= 0:
        end = start
        while end < len(track.sky) and track.sky[end] == Sky.COVERED:
            end += 1
        spans.append((start, end + rng.randint(0, 45 if end - start > LONG_COVER_SECONDS else 4)))
        second = end
    return spans

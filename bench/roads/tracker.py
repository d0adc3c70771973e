"""When a tracker reports, what its clock says, and when its reports reach the server."""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from motorpool.bench.roads.conditions import Conditions, log_uniform, occurrences
from motorpool.bench.roads.track import Track

STILL_SECONDS = 120
"""After so long without motion a tracker without a wired ignition takes the vehicle for parked."""
QUIET_SECONDS = 600
"""After so long a tracker that reports by distance reports all the same, while the vehicle is in use."""
HOUR = 3600
"""Seconds; a tracker that reports no more often than that tells no changes of use."""
DELAY_SECONDS = 1.0, 2.0
"""From a report to its arrival, with a network."""


class Instant(NamedTuple):
    """A second at which the tracker reports."""

    second: int
    is_wake: bool
    """Whether it has slept since the report before."""


def instants(track: Track, conditions: Conditions, rng: random.Random) -> Iterator[Instant]:
    """Yield the seconds of reports: in use by interval or change, parked by another interval or never."""
    interval, parked = conditions.interval_seconds, conditions.parked_seconds
    last = -rng.randint(0, (parked or interval) - 1)
    last_course, last_metres = track.courses[0], 0.0
    last_use = -STILL_SECONDS
    was_in_use = False
    for second in range(len(track)):
        if track.ignition[second] if conditions.ignition else track.speeds[second] > 0.0:
            last_use = second
        # A wired ignition tells it at once.
        is_in_use = second == last_use or (not conditions.ignition and second - last_use < STILL_SECONDS)
        is_wake = False
        if is_in_use != was_in_use:
            was_in_use = is_in_use
            is_due = interval < HOUR
            is_wake = is_in_use and parked is None
        elif is_in_use:
            is_due = _is_due(track, second, last, last_metres, last_course, conditions)
        else:
            is_due = parked is not None and second - last >= parked
        if is_due:
            last, last_metres, last_course = second, track.metres[second], track.courses[second]
            yield Instant(second, is_wake)


def _is_due(
    track: Track, second: int, last: int, metres: float, course: float, conditions: Conditions
) -> bool:
    if conditions.change_degrees is not None:
        turned = abs((track.courses[second] - course + 180.0) % 360.0 - 180.0)
        if turned >= conditions.change_degrees and second - last >= 2:
            return True
    if conditions.change_metres is not None:
        return track.metres[second] - metres >= conditions.change_metres or second - last >= QUIET_SECONDS
    return second - last >= conditions.interval_seconds


def clock_errors(count: int, conditions: Conditions, rng: random.Random) -> dict[int, int]:
    """Return by how many seconds the clock is off at some of `count` reports."""
    errors: dict[int, int] = {}
    for _ in range(occurrences(rng, conditions.clock_jumps)):
        first, error = rng.randrange(count), round(log_uniform(rng, 5.0, 4 * 3600.0)) * rng.choice((-1, 1))
        errors |= dict.fromkeys(range(first, min(count, first + rng.randint(1, 3))), error)
    return errors


class Sending(NamedTuple):
    """A report on its way."""

    report: int
    """Its number, in the order in which reports are made."""
    second: float
    """When it reaches the server, in seconds of the day."""
    is_archived: bool


def sendings(seconds: Sequence[int], conditions: Conditions, rng: random.Random) -> list[Sending]:
    """Return when the reports made at these seconds reach the server, in that order; some do so twice."""
    outages = _outages(conditions, rng)
    sent: list[Sending] = []
    kept: dict[int, list[int]] = {}
    for index, second in enumerate(seconds):
        end = next((end for start, end in outages if start <= second < end), None)
        if end is None:
            sent.append(Sending(index, second + rng.uniform(*DELAY_SECONDS), False))
        else:
            kept.setdefault(end, []).append(index)
    for end, indices in kept.items():
        if conditions.send_order == "newest":
            indices.reverse()
        elif conditions.send_order == "shuffled":
            rng.shuffle(indices)
        # Ten a second, among those that are made meanwhile.
        sent += [Sending(index, end + 2.0 + 0.1 * turn, True) for turn, index in enumerate(indices)]
    sent += [
        each._replace(second=each.second + rng.uniform(5.0, 60.0))
        for each in sent
        if rng.random() < conditions.repeats
    ]
    return sorted(sent, key=lambda each: each.second)


def _outages(conditions: Conditions, rng: random.Random) -> list[tuple[int, int]]:
    spans = []
    for _ in range(occurrences(rng, conditions.outages)):
        start = rng.randint(0, 82_800)
        spans.append((start, start + round(log_uniform(rng, 120.0, 7200.0))))
    return spans

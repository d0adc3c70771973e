"""The score of a driver (docs/drivers.md#score). Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

METRES: Final = 100_000
"""What counts are related to: 100 km."""
LEAST_METRES: Final = 1.0
"""A shorter distance is none: counts have no rate."""
FULL: Final = 100.0
"""The score of somebody of whom nothing was noted."""


class ScoreWeights(msgspec.Struct, frozen=True):
    """Points that each costs, by the field names of `Counts`."""

    accelerations: float = 2.0
    brakings: float = 2.0
    cornerings: float = 2.0
    overspeeds: float = 3.0
    phone_alarms: float = 5.0
    fatigue_alarms: float = 5.0
    speeding: float = 1.0
    """For each percent of the driving time above the limit."""


class Counts(msgspec.Struct):
    """What was noted of a driver in one device."""

    trips: int = 0
    distance: float = 0.0
    """Metres."""
    duration: float = 0.0
    """Milliseconds on trips."""
    accelerations: int = 0
    brakings: int = 0
    cornerings: int = 0
    overspeeds: int = 0
    phone_alarms: int = 0
    fatigue_alarms: int = 0
    speeding: float = 0.0
    """Milliseconds above the limit."""

    def add(self, other: "Counts") -> None:
        """Add what was noted elsewhere."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class ScoredCount(msgspec.Struct, frozen=True, rename="camel"):
    """How often something happened on trips, and what it costs."""

    count: int
    """How often it happened."""
    per_100_km: float | None
    """For 100 km; null without a distance."""
    weight: float
    """Points that one for 100 km costs; of devices with different weights the mean by distance."""
    points: float | None
    """`weight` times `per100Km`; null without a distance."""


class ScoredShare(msgspec.Struct, frozen=True, rename="camel"):
    """How long somebody drove faster than allowed, and what it costs."""

    duration: int
    """Milliseconds."""
    percent: float | None
    """Of the driving time; null without any."""
    weight: float
    """Points that a percent costs; of devices with different weights the mean by distance."""
    points: float | None
    """`weight` times `percent`; null without a distance."""


class Scored(msgspec.Struct, frozen=True):
    """Counts of a driver in all devices together, with their points."""

    total: Counts
    counts: Mapping[str, ScoredCount]
    """By the name in `Counts`."""
    speeding: ScoredShare
    score: float | None
    """100 less all points, at least 0; None without a distance."""
    formula: str
    """The same in figures: `100 - 2 * 1.5 = 97`; empty without a distance."""


KINDS: Final = ("accelerations", "brakings", "cornerings", "overspeeds", "phone_alarms", "fatigue_alarms")


def score(listed: Sequence[tuple[Counts, ScoreWeights]]) -> Scored:
    """Return the score of a driver; each part, of at least one, is a device with the weights set for it."""
    total = Counts()
    for counts, _ in listed:
        total.add(counts)
    way = total.distance if total.distance >= LEAST_METRES else 0.0

    def weight_of(name: str) -> float:
        weights = [(float(getattr(weights, name)), counts.distance) for counts, weights in listed]
        if not way or len({each for each, _ in weights}) <= 1:
            return weights[0][0]
        return round(sum(each * metres for each, metres in weights) / way, 4)

    lost: list[tuple[float, float]] = []
    counted: dict[str, ScoredCount] = {}
    for name in KINDS:
        count, weight = getattr(total, name), weight_of(name)
        rate = round(count * METRES / way, 2) if way else None
        counted[name] = ScoredCount(count, rate, weight, None if rate is None else round(weight * rate, 2))
        lost += [(weight, rate)] if rate else []
    weight = weight_of("speeding")
    percent = round(min(FULL, total.speeding / total.duration * 100), 2) if total.duration else None
    points = round(weight * percent, 2) if way and percent is not None else None
    share = ScoredShare(round(total.speeding), percent, weight, points)
    lost += [(weight, percent)] if points and percent else []
    if not way:
        return Scored(total, counted, share, None, "")
    found = round(max(0.0, FULL - sum(weight * rate for weight, rate in lost)), 1)
    terms = "".join(f" - {weight:g} * {rate:g}" for weight, rate in lost)
    formula = f"max(0, 100{terms}) = {found:g}" if lost else "100"
    return Scored(total, counted, share, found, formula)

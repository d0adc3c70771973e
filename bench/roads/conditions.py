"""What befalls a vehicle, its receiver and its tracker in a day; drawn from a seed, or chosen."""

import random
from math import exp, log
from typing import Literal

import msgspec

FixLoss = Literal["repeat", "zero", "silent"]
SpeedReports = Literal["held", "noisy", "zero"]
SendOrder = Literal["oldest", "newest", "shuffled"]
JumpStyle = Literal["single", "scattered", "lasting"]


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """Each is an override of `make_day`. Shares are 0 to 1; rates are expected numbers a day."""

    # The road.
    lights: float = 0.3
    """Share of the junctions in a city at which a light halts it for 5 to 90 s."""
    jams: float = 0.0
    """Share of the drives with stop and go."""
    tunnels: float = 0.0
    """Share of the drives through a tunnel, 20 s to 8 min long."""
    canyons: float = 0.0
    """Share of the drives between high buildings."""
    car_parks: float = 0.0
    """Share of the stays at which fixes drift."""
    garages: float = 0.0
    """Share of the stays without a fix."""
    yards: float = 0.0
    """Share of the stays with manoeuvres of less than 150 m."""
    idling: float = 0.0
    """Share of the stays with the engine on."""
    ferries: float = 0.0
    """Ferries a day, 10 to 40 km with the ignition off."""
    tows: float = 0.0
    """Tows a day, with the ignition off."""
    # The receiver.
    noise: float = 3.0
    """Standard deviation of a fix under an open sky along each axis, metres."""
    drift: float = 15.0
    """The same in a car park; between high buildings while driving no more than CANYON_NOISE."""
    noise_seconds: float = 60.0
    """Time constant of both."""
    outliers: float = 0.0
    """Share of the fixes that are 200 m to 5 km off."""
    jumps: float = 0.0
    """Rate of times at which fixes are so far off that no vehicle could have gone there."""
    jump_style: JumpStyle = "single"
    """One fix, two to four at different places, or two to four at the same place."""
    cold_starts: float = 0.0
    """Share of the starts of the receiver after which the first fix is 200 m to 3 km off."""
    fix_loss: FixLoss = "repeat"
    """Without a fix: invalid reports with the last place, invalid reports at 0/0, or no reports."""
    speeds: SpeedReports = "held"
    """Speed of one that stands: 0, or 0 to 2 km/h; `zero`: speeds are never told."""
    # The tracker.
    interval_seconds: int = 30
    """Between two reports while the vehicle is in use."""
    parked_seconds: int | None = 300
    """The same while it is not; None: it sleeps."""
    change_metres: float | None = None
    """A report whenever it has gone this far, in place of the interval; at least every ten minutes in use."""
    change_degrees: float | None = None
    """A report also whenever it has turned this far."""
    ignition: bool = True
    """Whether the ignition is wired: reports tell it, and the tracker knows from it whether it is parked."""
    odometer: bool = False
    """Whether reports tell the metres that the vehicle has gone in its life."""
    outages: float = 0.0
    """Rate of outages of the network, 2 min to 2 h; reports of the time are sent afterwards."""
    send_order: SendOrder = "oldest"
    """Of reports sent after an outage."""
    repeats: float = 0.0
    """Share of the reports that are sent once more."""
    clock_jumps: float = 0.0
    """Rate of times at which one to three reports have times that are 5 s to 4 h off."""


_INCIDENTS = (
    *("lights", "jams", "tunnels", "canyons", "car_parks", "garages", "yards", "idling", "ferries", "tows"),
    *("outliers", "jumps", "cold_starts", "outages", "repeats", "clock_jumps"),
)
CALM: dict[str, object] = dict.fromkeys(_INCIDENTS, 0.0)
"""Overrides with which nothing befalls: `make_day("van", 1, **CALM | {"car_parks": 1.0, "drift": 40.0})`."""

CANYON_NOISE = 15.0
"""Metres; the most along each axis while driving: more would be a speed that no receiver believes."""


def draw(rng: random.Random, interval_seconds: tuple[int, ...], **usual: object) -> Conditions:
    """Draw what hardly depends on the kind of vehicle; `usual` are those that do."""
    interval = rng.choice(interval_seconds)
    drawn = Conditions(
        noise=log_uniform(rng, 1.0, 8.0),
        drift=log_uniform(rng, 5.0, 60.0),
        noise_seconds=log_uniform(rng, 20.0, 300.0),
        outliers=rng.choice((0.0, 0.0002, 0.001)),
        jumps=rng.choice((0.0, 0.0, 2.0)),
        jump_style=rng.choices(("single", "scattered", "lasting"), (6, 3, 1))[0],
        cold_starts=rng.choice((0.0, 0.0, 0.3)),
        fix_loss=rng.choices(("repeat", "zero", "silent"), (5, 2, 3))[0],
        speeds=rng.choices(("held", "noisy", "zero"), (6, 2, 2))[0],
        interval_seconds=interval,
        parked_seconds=rng.choice((interval, max(60, interval), 300, 600, 3600, None)),
        ignition=rng.random() < 0.8,
        odometer=rng.random() < 0.15,
        outages=rng.choice((0.0, 0.0, 1.0, 3.0)),
        send_order=rng.choices(("oldest", "newest", "shuffled"), (6, 2, 2))[0],
        repeats=rng.choice((0.0, 0.005)),
        clock_jumps=0.1,
    )
    return with_overrides(drawn, usual)


def with_overrides(conditions: Conditions, overrides: dict[str, object]) -> Conditions:
    """Return the conditions with others in place of some of them.

    Raises:
        TypeError: there is no such condition.
    """
    unknown = overrides.keys() - set(Conditions.__struct_fields__)
    if unknown:
        raise TypeError(
            f"no condition {', '.join(sorted(unknown))}; there are {Conditions.__struct_fields__}"
        )
    return msgspec.structs.replace(conditions, **overrides)


def log_uniform(rng: random.Random, least: float, most: float) -> float:
    """Draw a number whose logarithm is evenly distributed."""
    return exp(rng.uniform(log(least), log(most)))


def occurrences(rng: random.Random, rate: float) -> int:
    """Draw how often something happens in a day that is expected `rate` times."""
    whole = int(rate)
    return whole + (rng.random() < rate - whole)

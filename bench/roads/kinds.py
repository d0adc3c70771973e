"""Kinds of vehicles: how they spend a day, and which conditions are usual for them."""

import random
from collections.abc import Callable
from typing import NamedTuple

from motorpool.bench.roads.conditions import Conditions, draw
from motorpool.bench.roads.journey import Journey
from motorpool.bench.roads.road import CITY, COUNTRY, CYCLEWAY, MOTORWAY, back
from motorpool.bench.roads.traffic import with_stops


class Kind(NamedTuple):
    """A kind of vehicle."""

    spend_day: Callable[[Journey], None]
    """Writes the script; what goes beyond the end of the day is dropped."""
    conditions: Callable[[random.Random], Conditions]
    acceleration: tuple[float, float]
    """Least and greatest, metres per second squared."""
    braking: tuple[float, float]


def _deliver(journey: Journey) -> None:
    """A van: short and long deliveries, halts at the kerb, a lunch break."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(6.0, 8.5)))
    journey.travel(rng.uniform(3000.0, 30_000.0), rng.choice((CITY, COUNTRY)))
    while journey.now < 17 * 3600:
        turn = rng.random()
        if turn < 0.25:
            journey.halt(rng.randint(25, 150))
        elif turn < 0.35:
            journey.park(rng.randint(185, 299))
        elif turn < 0.9:
            journey.park(rng.randint(300, 1800))
        else:
            journey.park(rng.randint(1800, 5400))
        journey.travel(rng.uniform(800.0, 9000.0), CITY)
    journey.park(86_400)


def _serve_line(journey: Journey) -> None:
    """A bus: there and back on a line with stops of 20 s, and breaks at both ends."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(4.5, 6.0)))
    line = journey.travel(rng.uniform(6000.0, 14_000.0), CITY, top=50.0)
    while journey.now < 21 * 3600:
        journey.park(rng.randint(120, 170) if rng.random() < 0.2 else rng.randint(300, 1200))
        line = back(line)
        journey.turn()
        journey.follow(with_stops(rng, line, (250.0, 600.0), (12, 30)))
    journey.park(86_400)


def _collect_refuse(journey: Journey) -> None:
    """A refuse truck: creeps from house to house, breaks, empties at the plant, goes on."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(5.0, 6.5)))
    while journey.now < 14 * 3600:
        journey.travel(rng.uniform(2000.0, 12_000.0), CITY, top=80.0)
        street = journey.road(rng.uniform(1500.0, 4000.0), CITY, top=20.0)
        journey.drive(with_stops(rng, street, (20.0, 60.0), (15, 60)))
        journey.park(rng.randint(600, 2400))
    journey.travel(rng.uniform(2000.0, 12_000.0), CITY, top=80.0)
    journey.park(86_400)


def _carry_passengers(journey: Journey) -> None:
    """A taxi: day or night, ranks with the engine on, short halts for passengers."""
    rng = journey.rng
    begin = rng.uniform(5.0, 14.0)
    journey.park(journey.until(begin))
    while journey.now < (begin + 9) * 3600:
        journey.travel(rng.uniform(1000.0, 12_000.0), CITY)
        turn = rng.random()
        if turn < 0.35:
            journey.halt(rng.randint(20, 140))
        elif turn < 0.8:
            journey.wait_in_rank(rng.randint(300, 2400))
        else:
            journey.park(rng.randint(190, 1800))
    journey.travel(rng.uniform(1000.0, 12_000.0), CITY)
    journey.park(86_400)


def _tour(journey: Journey) -> None:
    """A motorcycle: winding roads, rests, home by the same way or not."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(7.0, 12.0)))
    for _ in range(rng.randint(1, 3)):
        road = journey.travel(rng.uniform(8000.0, 60_000.0), COUNTRY, top=110.0)
        journey.park(rng.randint(240, 4000))
        if rng.random() < 0.5:
            journey.travel_back(road)
            journey.park(rng.randint(600, 6000))
    journey.travel(rng.uniform(3000.0, 20_000.0), COUNTRY)
    journey.park(86_400)


def _dig(journey: Journey) -> None:
    """An excavator: works on a site without leaving it; now and then a lowloader takes it to the next one."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(6.5, 8.0)), "site")
    journey.work(journey.until(12.0))
    if rng.random() < 0.5:
        journey.load(rng.randint(240, 900))
        journey.tow(rng.uniform(5000.0, 40_000.0), COUNTRY)
    journey.park(rng.randint(1200, 3600), "site")
    journey.work(journey.until(rng.uniform(15.5, 17.5)))
    journey.park(86_400, "site")


def _haul(journey: Journey) -> None:
    """A long-distance lorry: 4.5 hours, 45 minutes of break, 4.5 hours, the night on a car park."""
    rng = journey.rng
    journey.park(rng.randint(600, 6 * 3600))
    for rest in (2700, 86_400):
        until = journey.now + rng.uniform(3.5, 4.4) * 3600
        while True:
            journey.travel(rng.uniform(30_000.0, 150_000.0), MOTORWAY, top=rng.uniform(80.0, 89.0))
            if journey.now > until:
                break
            journey.park(rng.choice((rng.randint(240, 900), rng.randint(900, 3600))))
        journey.park(rest)


def _commute(journey: Journey) -> None:
    """A private car: to work and back, shopping on the way."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(6.0, 9.0)))
    way = journey.travel(rng.uniform(2500.0, 45_000.0), rng.choice((CITY, COUNTRY, MOTORWAY)))
    journey.park(journey.until(rng.uniform(11.5, 12.5)))
    if rng.random() < 0.4:
        lunch = journey.travel(rng.uniform(900.0, 4000.0), CITY)
        journey.park(rng.randint(1200, 3600))
        journey.travel_back(lunch)
    journey.park(journey.until(rng.uniform(15.5, 18.0)))
    journey.travel_back(way)
    if rng.random() < 0.6:
        journey.park(rng.randint(300, 2400))
        shop = journey.travel(rng.uniform(900.0, 6000.0), CITY)
        journey.park(rng.randint(200, 3000))
        journey.travel_back(shop)
    journey.park(86_400)


def _ride(journey: Journey) -> None:
    """A courier by bicycle or scooter."""
    rng = journey.rng
    journey.park(journey.until(rng.uniform(8.0, 11.0)))
    while journey.now < 19 * 3600:
        journey.travel(rng.uniform(700.0, 4000.0), CYCLEWAY, top=20.0)
        journey.park(rng.choice((rng.randint(60, 160), rng.randint(190, 290), rng.randint(300, 1500))))
    journey.park(86_400)


_STAYS = {"car_parks": 0.15, "garages": 0.1, "yards": 0.15, "idling": 0.2}
_ROADS = {"jams": 0.1, "tunnels": 0.05, "canyons": 0.1, "ferries": 0.03, "tows": 0.05}

KINDS: dict[str, Kind] = {
    "van": Kind(
        _deliver, lambda rng: draw(rng, (10, 15, 30, 60, 120), **_STAYS, **_ROADS), (1.2, 2.2), (1.5, 3.0)
    ),
    "bus": Kind(
        _serve_line,
        lambda rng: draw(rng, (10, 20, 30), **_STAYS | {"yards": 0.0, "idling": 0.4}, jams=0.1, canyons=0.2),
        (1.0, 1.4),
        (1.0, 1.8),
    ),
    "refuse truck": Kind(
        _collect_refuse,
        lambda rng: draw(rng, (10, 20, 30, 60), **_STAYS, canyons=0.1),
        (1.0, 1.4),
        (1.0, 2.0),
    ),
    "taxi": Kind(
        _carry_passengers,
        lambda rng: draw(rng, (5, 10, 20, 30), **_STAYS | {"yards": 0.0}, **_ROADS | {"jams": 0.2}),
        (1.5, 2.5),
        (1.5, 3.0),
    ),
    "motorcycle": Kind(
        _tour,
        lambda rng: draw(
            rng,
            (5, 10, 30, 60),
            **_STAYS | {"yards": 0.0},
            **_ROADS | {"ferries": 0.1},
            change_metres=rng.choice((None, 50.0, 200.0)),
            change_degrees=rng.choice((None, 30.0)),
        ),
        (1.8, 2.5),
        (2.0, 3.0),
    ),
    "excavator": Kind(_dig, lambda rng: draw(rng, (30, 60, 300), lights=0.3), (1.0, 1.2), (1.0, 1.5)),
    "lorry": Kind(
        _haul,
        lambda rng: draw(rng, (10, 30, 60, 120, 300), **_STAYS, **_ROADS | {"jams": 0.3, "ferries": 0.15}),
        (1.0, 1.2),
        (1.0, 2.0),
    ),
    "commuter": Kind(
        _commute,
        lambda rng: draw(
            rng,
            (1, 5, 10, 30, 60),
            **_STAYS | {"garages": 0.3},
            **_ROADS | {"jams": 0.25, "tunnels": 0.1},
            parked_seconds=rng.choice((60, 600, 3600, None)),
        ),
        (1.2, 2.5),
        (1.5, 3.0),
    ),
    "hourly car": Kind(
        _commute,
        lambda rng: draw(rng, (3600,), **_STAYS, **_ROADS, parked_seconds=3600, ignition=False, outages=0.0),
        (1.2, 2.5),
        (1.5, 3.0),
    ),
    "courier": Kind(
        _ride,
        lambda rng: draw(
            rng,
            (1, 5, 15, 30),
            **_STAYS | {"yards": 0.0, "idling": 0.0, "garages": 0.0},
            canyons=0.2,
            ignition=False,
            parked_seconds=rng.choice((60, 600, None)),
            change_metres=rng.choice((None, None, 20.0, 100.0)),
        ),
        (1.0, 1.5),
        (1.0, 2.0),
    ),
}

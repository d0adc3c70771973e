"""What a vehicle meets on a road."""

import random
from itertools import accumulate, pairwise

import pytest

from motorpool.bench.roads.road import CITY, MOTORWAY, Piece, lay, length
from motorpool.bench.roads.track import Sky
from motorpool.bench.roads.traffic import (
    CLEAR_METRES,
    with_canyon,
    with_halts,
    with_jam,
    with_stops,
    with_tunnel,
)


def halting_places(pieces: list[Piece]) -> list[float]:
    along = accumulate(piece.metres for piece in pieces)
    return [metres for metres, piece in zip(along, pieces, strict=True) if piece.halt]


@pytest.mark.parametrize("seed", range(8))
def test_nothing_changes_the_road_itself_or_halts_at_its_ends(seed: int) -> None:
    rng = random.Random(seed)
    road = lay(rng, CITY, 5000.0)
    busy = with_jam(rng, with_halts(rng, road, 0.6, (5, 90)), long_halt=200)
    busy = with_canyon(rng, with_tunnel(rng, with_stops(rng, busy, (200.0, 400.0), (10, 30)), 60.0))
    assert length(busy) == pytest.approx(length(road))
    assert sum(piece.turn for piece in busy) == pytest.approx(sum(piece.turn for piece in road))
    places = halting_places(busy)
    assert places
    assert min(places) >= CLEAR_METRES
    assert max(places) <= length(road) - CLEAR_METRES


def test_lights_are_in_town_only() -> None:
    rng = random.Random(1)
    assert not halting_places(with_halts(rng, lay(rng, MOTORWAY, 50_000.0), 1.0, (5, 90)))
    assert halting_places(with_halts(rng, lay(rng, CITY, 5000.0), 1.0, (5, 90)))


def test_stops_are_apart() -> None:
    rng = random.Random(1)
    places = halting_places(with_stops(rng, lay(rng, CITY, 8000.0), (300.0, 500.0), (12, 30)))
    apart = [after - before for before, after in pairwise(places)]
    assert len(places) > 10
    assert min(apart) >= 300.0 - 1e-6
    assert max(apart) <= 500.0 + 1e-6


@pytest.mark.parametrize("long_halt", [0, 240])
def test_a_jam_creeps_and_has_one_long_halt_at_most(long_halt: int) -> None:
    rng = random.Random(3)
    jammed = with_jam(rng, lay(rng, CITY, 6000.0), long_halt=long_halt)
    creeping = [piece for piece in jammed if piece.halt]
    assert len(creeping) > 3
    assert all(piece.metres <= 80.0 and piece.speed <= 6.0 for piece in creeping)
    longest, *others = sorted((piece.halt for piece in creeping), reverse=True)
    assert longest == long_halt if long_halt else longest <= 75
    assert all(5 <= halt <= 75 for halt in others)


def test_a_tunnel_is_driven_through_in_about_its_seconds_without_halts() -> None:
    rng = random.Random(1)
    pieces = with_tunnel(rng, with_halts(rng, lay(rng, CITY, 10_000.0), 0.8, (5, 90)), 120.0)
    tunnel = [piece for piece in pieces if piece.sky is Sky.COVERED]
    assert not any(piece.halt for piece in tunnel)
    assert 60.0 < sum(piece.metres / piece.speed for piece in tunnel) < 240.0


def test_a_road_too_short_for_all_that_stays_as_it_is() -> None:
    rng = random.Random(1)
    road = [Piece(400.0, 10.0)]
    assert with_tunnel(rng, with_jam(rng, with_halts(rng, road, 1.0, (5, 9))), 60.0) == road

"""Roads of pieces."""

import random
from math import sqrt

import pytest

from motorpool.bench.roads.road import (
    CITY,
    COUNTRY,
    CYCLEWAY,
    MOTORWAY,
    SIDEWAYS,
    Piece,
    Style,
    back,
    lay,
    length,
    reach,
)


@pytest.mark.parametrize("style", [CITY, COUNTRY, MOTORWAY, CYCLEWAY])
@pytest.mark.parametrize("seed", range(5))
def test_a_road_has_its_length_its_bends_and_a_direction(style: Style, seed: int) -> None:
    metres = 30_000.0
    pieces = lay(random.Random(seed), style, metres)
    assert length(pieces) == pytest.approx(metres)
    assert reach(pieces) > 0.3 * metres
    bends = [piece for piece in pieces if piece.curvature]
    assert all(
        style.radius[0] <= abs(1 / piece.curvature) <= style.radius[1] + 1e-6
        and piece.speed <= sqrt(SIDEWAYS / abs(piece.curvature)) + 1e-9
        for piece in bends
    )
    assert {piece.curvature > 0 for piece in bends} == {True, False}


def test_the_speed_of_the_vehicle_is_a_limit_too() -> None:
    assert max(piece.speed for piece in lay(random.Random(1), MOTORWAY, 50_000.0, top=85.0)) == 85 / 3.6


def test_the_way_back_leads_to_the_start() -> None:
    road = [Piece(100.0, 10.0, halt=5), Piece(50.0, 10.0, 0.02), Piece(70.0, 10.0)]
    returned = back(road)
    assert [piece.curvature for piece in returned] == [-0.0, -0.02, -0.0]
    assert not any(piece.halt for piece in returned)
    # There, a turn, and back.
    turn = [Piece(1e-6, 10.0, 3.141592653589793e6)]
    assert reach([*road, *turn, *returned]) == pytest.approx(0.0, abs=1e-3)

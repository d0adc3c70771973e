"""Driving a road."""

import random
from math import radians

import pytest

from motorpool.bench.roads.driving import Vehicle, drive
from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.road import CITY, COUNTRY, MOTORWAY, Piece, Style, lay, length
from motorpool.bench.roads.track import Sky, Track
from motorpool.bench.roads.traffic import with_halts

BERLIN = Place(52.52, 13.40)
VEHICLE = Vehicle(acceleration=1.5, braking=2.0)


def driven(pieces: list[Piece], heading: float = 0.0) -> Track:
    track = Track(BERLIN)
    drive(track, pieces, VEHICLE, heading)
    return track


def test_a_straight_is_driven_to_its_end_from_rest_to_rest() -> None:
    track = driven([Piece(1000.0, 50 / 3.6)], heading=radians(90))
    assert track.speeds[0] == track.speeds[track.last] == 0.0
    assert max(track.speeds) == pytest.approx(50 / 3.6)
    assert track.metres[track.last] == pytest.approx(1000.0)
    assert BERLIN.metres_to(track.place(track.last)) == pytest.approx(1000.0, rel=1e-4)
    east, north = BERLIN.offset_to(track.place(track.last))
    assert (east, north) == (pytest.approx(1000.0, rel=1e-4), pytest.approx(0.0, abs=0.01))
    # 1,000 m at 13.9 m/s, and 8 s more for gaining and losing speed.
    assert 72 / 1 + 5 < track.last < 72 + 15


def test_an_arc_turns_to_the_right_on_its_radius() -> None:
    quarter = 100.0 * radians(90)
    track = driven([Piece(quarter, 10.0, 1 / 100.0)])
    east, north = BERLIN.offset_to(track.place(track.last))
    assert (east, north) == (pytest.approx(100.0, abs=0.5), pytest.approx(100.0, abs=0.5))
    assert track.courses[track.last] == pytest.approx(90.0, abs=0.1)


@pytest.mark.parametrize("style", [CITY, COUNTRY, MOTORWAY])
def test_speeds_keep_to_limits_bends_acceleration_and_braking(style: Style) -> None:
    rng = random.Random(7)
    pieces = with_halts(rng, lay(rng, style, 20_000.0), 0.5, (5, 90))
    track = driven(pieces)
    assert track.metres[track.last] == pytest.approx(length(pieces))
    assert max(track.speeds) <= max(piece.speed for piece in pieces)
    changes = [after - before for before, after in zip(track.speeds, track.speeds[1:], strict=False)]
    assert max(changes) <= VEHICLE.acceleration + 1e-9
    # On the last metres before a halt a second is long.
    assert min(changes) >= -1.4 * VEHICLE.braking


def test_a_halt_takes_its_seconds_at_the_end_of_its_piece() -> None:
    track = driven([Piece(300.0, 10.0, halt=40), Piece(300.0, 10.0)])
    (start, end), *_ = [halt for halt in track.halts() if halt[1] - halt[0] > 1]
    assert end - start == 40
    assert track.metres[start] == track.metres[end] == pytest.approx(300.0)
    assert all(track.speeds[second] == 0.0 for second in range(start, end + 1))


def test_what_covers_a_piece_covers_the_seconds_on_it() -> None:
    track = driven([Piece(200.0, 10.0), Piece(200.0, 10.0, sky=Sky.COVERED), Piece(200.0, 10.0)])
    covered = [second for second in range(len(track)) if track.sky[second] == Sky.COVERED]
    assert covered == list(range(covered[0], covered[-1] + 1))
    assert track.metres[covered[0]] == pytest.approx(200.0, abs=10.0)
    assert track.metres[covered[-1]] == pytest.approx(400.0, abs=10.0)
    assert set(track.ignition[1:]) == {1}

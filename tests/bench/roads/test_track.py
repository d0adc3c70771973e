"""The true motion, second by second."""

import pytest

from motorpool.bench.roads.globe import Place
from motorpool.bench.roads.track import Sky, Track

START = Place(52.0, 13.0)


def moved(track: Track, metres: float) -> None:
    place = track.place(track.last).moved(0.0, metres)
    track.move(place, metres, metres, 0.0, ignition=True, sky=Sky.OPEN)


def test_halts_are_from_arrival_to_departure() -> None:
    track = Track(START)
    track.stand(10, ignition=False, sky=Sky.OPEN)
    moved(track, 5.0)
    moved(track, 5.0)
    track.stand(3, ignition=True, sky=Sky.CAR_PARK)
    moved(track, 5.0)
    assert track.halts() == [(0, 10), (12, 15)]
    assert len(track) == 17
    assert bytes(track.sky) == bytes([0] * 13 + [Sky.CAR_PARK] * 3 + [0])
    assert track.metres[track.last] == 15.0


def test_a_place_between_two_seconds_is_between_their_places() -> None:
    track = Track(START)
    moved(track, 10.0)
    assert START.metres_to(track.place_at(0.25)) == pytest.approx(2.5)
    assert track.place_at(-5.0) == START
    assert track.place_at(99.0) == track.place(1)


def test_what_is_cut_is_gone() -> None:
    track = Track(START)
    track.stand(10, ignition=False, sky=Sky.OPEN)
    moved(track, 10.0)
    track.cut(4)
    assert (len(track), track.last, len(track.sky), len(track.ignition)) == (5, 4, 5, 5)
    assert track.halts() == [(0, 4)]

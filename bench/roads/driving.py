"""Drives a road: speeds second by second, within limits, bends, acceleration and braking."""

from collections.abc import Sequence
from math import cos, sin, sqrt
from typing import NamedTuple

from motorpool.bench.roads.globe import course_of
from motorpool.bench.roads.road import Piece, chord_of
from motorpool.bench.roads.track import Track

CRAWL = 0.8
"""Metres a second on the last metres before a halt."""


class Vehicle(NamedTuple):
    """How it gains and loses speed, in metres per second squared."""

    acceleration: float
    braking: float


def drive(
    track: Track, pieces: Sequence[Piece], vehicle: Vehicle, heading: float, *, ignition: bool = True
) -> float:
    """Drive from rest to rest; return the heading at the end, in radians.

    A halt ends a piece: the vehicle stands for its seconds, and then a second more in which it gains speed.
    """
    ends = _speeds_at_ends(pieces, vehicle)
    speed = 0.0
    index, left = 0, pieces[0].metres if pieces else 0.0
    while index < len(pieces):
        piece = pieces[index]
        new = min(speed + vehicle.acceleration, piece.speed)
        new = max(CRAWL, min(new, _slow_enough(speed, left, ends[index], vehicle.braking)))
        place, going, halt = track.place(track.last), (speed + new) / 2, 0
        travelled = 0.0
        while index < len(pieces):
            piece = pieces[index]
            step = min(going, left)
            middle, chord = heading + step * piece.curvature / 2, chord_of(step, piece.curvature)
            place = place.moved(chord * sin(middle), chord * cos(middle))
            heading += step * piece.curvature
            travelled, going, left = travelled + step, going - step, left - step
            sky = piece.sky
            if left > 1e-9:
                break
            index += 1
            left = pieces[index].metres if index < len(pieces) else 0.0
            halt = piece.halt
            if halt:
                break
        speed = 0.0 if halt or index == len(pieces) else new
        track.move(place, travelled, speed, course_of(heading), ignition=ignition, sky=sky)
        if halt:
            track.stand(halt, ignition=ignition, sky=sky)
    return heading


def _slow_enough(speed: float, metres: float, end: float, braking: float) -> float:
    """Return the highest speed in a second from which it can brake to `end` until it has gone `metres`."""
    # With v then, v² ≤ end² + 2 braking (metres - (speed + v) / 2).
    room = end * end + braking * (2 * metres - speed) + braking * braking / 4
    return sqrt(max(0.0, room)) - braking / 2


def _speeds_at_ends(pieces: Sequence[Piece], vehicle: Vehicle) -> list[float]:
    """Return the highest speed at the end of each piece with which it can go on."""
    ends = [0.0] * len(pieces)
    start = 0.0
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        ends[index] = 0.0 if piece.halt else min(start, piece.speed)
        start = min(piece.speed, sqrt(ends[index] ** 2 + 2 * vehicle.braking * piece.metres))
    return ends

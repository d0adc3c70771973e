"""Roads as pieces one after another: straights and arcs with their speed limits and halts."""

import random
from collections.abc import Iterable, Sequence
from math import cos, hypot, pi, radians, sin, sqrt
from typing import NamedTuple

from motorpool.bench.roads.track import Sky

SIDEWAYS = 2.0
"""Largest lateral acceleration in a bend, metres per second squared."""
URBAN = 60.0
"""Highest limit in town, km/h."""


class Piece(NamedTuple):
    """A straight or an arc."""

    metres: float
    speed: float
    """Limit, metres a second."""
    curvature: float = 0.0
    """One by the radius in metres, positive to the right; 0: straight."""
    halt: int = 0
    """Seconds for which the vehicle halts at its end."""
    sky: Sky = Sky.OPEN

    @property
    def turn(self) -> float:
        """Radians by which the heading changes, positive to the right."""
        return self.metres * self.curvature


class Style(NamedTuple):
    """How roads of a kind look; pairs are least and greatest."""

    straight: tuple[float, float]
    """Metres between bends."""
    radius: tuple[float, float]
    """Metres of a bend."""
    turn: tuple[float, float]
    """Degrees of a bend."""
    limits: tuple[float, ...]
    """Speed limits, km/h."""

    @property
    def is_urban(self) -> bool:
        """Whether it leads through a town."""
        return max(self.limits) <= URBAN


CITY = Style((60, 350), (15, 40), (30, 100), (30, 50, 50, 60))
COUNTRY = Style((100, 900), (80, 500), (15, 70), (70, 80, 100))
MOTORWAY = Style((1000, 5000), (600, 1000), (5, 30), (100, 120, 130))
CYCLEWAY = Style((40, 250), (15, 30), (20, 90), (12, 16, 20))


def lay(rng: random.Random, style: Style, metres: float, *, top: float = 130.0) -> list[Piece]:
    """Lay a road of this length that keeps its direction on the whole; `top` is the vehicle's km/h."""
    pieces: list[Piece] = []
    left, deviation = metres, 0.0
    while left > 0.0:
        limit = min(top, rng.choice(style.limits)) / 3.6
        straight = min(left, rng.uniform(*style.straight))
        pieces.append(Piece(straight, limit))
        left -= straight
        radius = rng.uniform(*style.radius)
        turn = radians(rng.uniform(*style.turn))
        arc = radius * turn
        if arc < left:
            # Back to the direction of the road, mostly.
            side = -1.0 if deviation > 0.0 else 1.0
            if abs(deviation) < pi / 3 and rng.random() < 0.3:
                side = -side
            deviation += side * turn
            pieces.append(Piece(arc, min(limit, sqrt(SIDEWAYS * radius)), side / radius))
            left -= arc
    return pieces


def length(pieces: Iterable[Piece]) -> float:
    """Return the metres of a road."""
    return sum(piece.metres for piece in pieces)


def reach(pieces: Iterable[Piece]) -> float:
    """Return the metres between both ends of a road, as the crow flies."""
    heading = east = north = 0.0
    for piece in pieces:
        middle, chord = heading + piece.turn / 2, chord_of(piece.metres, piece.curvature)
        east, north = east + chord * sin(middle), north + chord * cos(middle)
        heading += piece.turn
    return hypot(east, north)


def chord_of(metres: float, curvature: float) -> float:
    """Return the straight length of an arc."""
    half = metres * curvature / 2
    return metres if abs(half) < 1e-9 else metres * sin(half) / half


def back(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the road in the other direction, without its halts."""
    return [piece._replace(curvature=-piece.curvature, halt=0) for piece in reversed(pieces)]

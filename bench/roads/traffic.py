"""What a vehicle meets on a road: lights, stops, jams, tunnels, streets between high buildings."""

import random
from collections.abc import Callable, Sequence

from motorpool.bench.roads.road import URBAN, Piece, length
from motorpool.bench.roads.track import Sky

CLEAR_METRES = 250.0
"""Nothing halts a vehicle this close to both ends of a road: whether a light around the corner belongs to the
stop could be argued either way."""


def with_halts(
    rng: random.Random, pieces: Sequence[Piece], share: float, seconds: tuple[int, int]
) -> list[Piece]:
    """Put halts at this share of the junctions in town, none of them within CLEAR_METRES of an end."""
    total, along, halting = length(pieces), 0.0, []
    for piece in pieces:
        along += piece.metres
        is_open = CLEAR_METRES < along < total - CLEAR_METRES
        is_junction = piece.curvature == 0.0 and not piece.halt and piece.speed <= URBAN / 3.6
        if is_junction and is_open and rng.random() < share:
            piece = piece._replace(halt=rng.randint(*seconds))  # noqa: PLW2901 - the piece with its halt
        halting.append(piece)
    return halting


def with_stops(
    rng: random.Random, pieces: Sequence[Piece], apart: tuple[float, float], seconds: tuple[int, int]
) -> list[Piece]:
    """Put halts this many metres apart wherever the road goes, none within CLEAR_METRES of an end."""
    total, along, due, halting = length(pieces), 0.0, CLEAR_METRES + rng.uniform(*apart), []
    for piece in pieces:
        rest = piece
        while due < along + rest.metres and due < total - CLEAR_METRES:
            before = due - along
            halting.append(rest._replace(metres=before, halt=rng.randint(*seconds)))
            rest = rest._replace(metres=rest.metres - before)
            along, due = due, due + rng.uniform(*apart)
        halting.append(rest)
        along += rest.metres
    return halting


def with_jam(rng: random.Random, pieces: Sequence[Piece], *, long_halt: int = 0) -> list[Piece]:
    """Let traffic stop and go on 150 to 1,500 m in the middle: it creeps 8 to 80 m and halts 5 to 75 s.

    `long_halt`: seconds of one halt more, somewhere in between.
    """
    creeping: list[Piece] = []

    def creep(piece: Piece) -> list[Piece]:
        first, left = len(creeping), piece.metres
        while left > 0.0:
            metres = min(left, rng.uniform(8.0, 80.0))
            halt = rng.randint(5, 75) if rng.random() < 0.8 else 0
            speed = min(piece.speed, rng.uniform(1.5, 6.0))
            creeping.append(piece._replace(metres=metres, speed=speed, halt=halt))
            left -= metres
        return creeping[first:]

    jammed = _changed(pieces, rng.uniform(0.3, 0.7), rng.uniform(150.0, 1500.0), creep)
    if long_halt and creeping:
        longest = jammed.index(rng.choice(creeping))
        jammed[longest] = jammed[longest]._replace(halt=long_halt)
    return jammed


def with_tunnel(rng: random.Random, pieces: Sequence[Piece], seconds: float) -> list[Piece]:
    """Cover what takes about so long in the middle, but at most half of the road, without halts."""
    average = length(pieces) / sum(piece.metres / piece.speed for piece in pieces)
    metres = min(seconds * average, length(pieces) / 2)
    return _changed(
        pieces, rng.uniform(0.3, 0.7), metres, lambda piece: [piece._replace(sky=Sky.COVERED, halt=0)]
    )


def with_canyon(rng: random.Random, pieces: Sequence[Piece]) -> list[Piece]:
    """Put high buildings along 300 to 2,000 m."""
    return _changed(
        pieces,
        rng.uniform(0.2, 0.8),
        rng.uniform(300.0, 2000.0),
        lambda piece: [piece._replace(sky=Sky.CANYON)],
    )


def _changed(
    pieces: Sequence[Piece], middle: float, metres: float, change: Callable[[Piece], list[Piece]]
) -> list[Piece]:
    """Change `metres` around a share of the road, but nothing within CLEAR_METRES of its ends."""
    total, along = length(pieces), 0.0
    first = max(CLEAR_METRES, middle * total - metres / 2)
    last = min(total - CLEAR_METRES, first + metres)
    found: list[Piece] = []
    for piece in pieces:
        end = along + piece.metres
        before = min(piece.metres, max(0.0, first - along))
        after = min(piece.metres, max(0.0, end - last))
        inside = piece.metres - before - after
        if inside <= 0.0:
            found.append(piece)
        else:
            if before:
                found.append(piece._replace(metres=before, halt=0))
            changed = piece._replace(metres=inside, halt=0 if after else piece.halt)
            found += change(changed)
            if after:
                found.append(piece._replace(metres=after))
        along = end
    return found

"""Faults of two servers: episodes that take turns, or that are drawn from a seed."""

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import cycle, islice
from typing import Literal

import msgspec
import trio

from motorpool.bench.cluster.pair import NAMES, Pair
from motorpool.bench.cluster.probes import Troubles

KILL, FREEZE, CUT, CRASH = "kill", "freeze", "cut", "crash PostgreSQL"
DOWN_SECONDS, FREEZE_SECONDS, CUT_SECONDS, CRASH_SECONDS = 4.0, 20.0, 14.0, 1.0
DUTY = "schedule"
"""Whose holder is meant."""


class Planned(msgspec.Struct, frozen=True):
    """A fault that is to be made."""

    name: str
    on: Literal["holder", "other"]
    """Of the two servers the one that has the duty `schedule` when the episode begins, or the other one."""
    seconds: float
    """How long it lasts; of a killed server, until it is started again at the earliest."""
    after: float = 0.0
    """Seconds since the beginning of the episode."""


Episode = tuple[Planned, ...]
"""Faults that overlap, or are one after the other, before the servers have time to settle."""

_TURNS: tuple[Episode, ...] = (
    (Planned(KILL, "holder", DOWN_SECONDS),),
    (Planned(FREEZE, "holder", FREEZE_SECONDS),),
    (Planned(CRASH, "holder", CRASH_SECONDS),),
    (Planned(CUT, "other", CUT_SECONDS),),
    (Planned(KILL, "other", DOWN_SECONDS),),
    (Planned(FREEZE, "other", FREEZE_SECONDS),),
    (Planned(CRASH, "holder", CRASH_SECONDS),),
    (Planned(CUT, "holder", CUT_SECONDS),),
)
_LENGTHS: Mapping[str, tuple[float, float]] = {
    KILL: (0.0, 6.0),
    FREEZE: (2.0, FREEZE_SECONDS),
    CUT: (2.0, CUT_SECONDS),
    CRASH: (CRASH_SECONDS, CRASH_SECONDS),
}


class Fault(msgspec.Struct, frozen=True):
    """A fault that was made; instants in seconds since the Unix epoch."""

    name: str
    place: int
    server: int
    """The number of its start (its row in `nodes`)."""
    began: float
    ended: float


def usual(count: int) -> tuple[Episode, ...]:
    """Return `count` episodes of one fault each, taking turns."""
    return tuple(islice(cycle(_TURNS), count))


def drawn(seed: int) -> Episode:
    """Return an episode of one or two faults."""
    choose = random.Random(seed)
    faults = []
    for number in range(choose.choice((1, 1, 2))):
        name = choose.choice(tuple(_LENGTHS))
        on: Literal["holder", "other"] = choose.choice(("holder", "other"))
        after = round(choose.uniform(0.0, 8.0), 1) if number else 0.0
        faults.append(Planned(name, on, round(choose.uniform(*_LENGTHS[name]), 1), after))
    return tuple(faults)


async def _kill(pair: Pair, place: int, seconds: float) -> None:
    with pair.kept_down(place):
        await trio.sleep(seconds)


async def _freeze(pair: Pair, place: int, seconds: float) -> None:
    pair.freeze(place)
    try:
        await trio.sleep(seconds)
    finally:
        pair.thaw(place)


async def _cut(pair: Pair, place: int, seconds: float) -> None:
    pair.relays[place].cut()
    try:
        await trio.sleep(seconds)
    finally:
        pair.relays[place].mend()


async def _crash(pair: Pair, _place: int, seconds: float) -> None:
    pair.crash_postgres()
    await trio.sleep(seconds)


_MAKE: Mapping[str, Callable[[Pair, int, float], Awaitable[None]]] = {
    KILL: _kill,
    FREEZE: _freeze,
    CUT: _cut,
    CRASH: _crash,
}


async def make_faults(
    pair: Pair, episode: Episode, troubles: Troubles, step: Callable[[str], None]
) -> list[Fault]:
    """Make the faults of an episode, and wait until both servers run again."""
    holder = await pair.holder(DUTY)
    numbers = await pair.numbers()
    made: list[Fault] = []

    async def make(planned: Planned) -> None:
        await trio.sleep(planned.after)
        place = (holder or 0) if planned.on == "holder" else 1 - (holder or 0)
        is_crash = planned.name == CRASH
        step(planned.name if is_crash else f"{planned.name} {NAMES[place]}, {planned.seconds:g} s")
        with troubles.during(*(range(len(NAMES)) if is_crash else (place,))):
            began = time.time()
            await _MAKE[planned.name](pair, place, planned.seconds)
        made.append(Fault(planned.name, place, numbers[place], began, time.time()))

    async with trio.open_nursery() as nursery:
        for planned in episode:
            nursery.start_soon(make, planned)
    await pair.until_running()
    return made

"""Faults of servers: episodes that take turns, or that are drawn from a seed."""

import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice

import msgspec
import trio

from motorpool.bench.cluster.cluster import Cluster
from motorpool.bench.cluster.probes import Troubles

KILL, FREEZE, CUT, CRASH = "kill", "freeze", "cut", "crash PostgreSQL"
KILL_NATS, CUT_LINK, REPLACE = "kill NATS", "cut from NATS", "replace"
DOWN_SECONDS, FREEZE_SECONDS, CUT_SECONDS, CRASH_SECONDS = 4.0, 20.0, 14.0, 1.0
NATS_SECONDS = 12.0
"""NATS is away for longer than it takes to notice a connection that is dead."""
DUTY = "schedule"
"""Whose holder is meant."""


class Planned(msgspec.Struct, frozen=True):
    """A fault that is to be made."""

    name: str
    on: int
    """Which server: so many places after the one that has the duty `schedule` when the episode begins."""
    seconds: float
    """How long it lasts; of a killed server, until it is started again at the earliest."""
    after: float = 0.0
    """Seconds since the beginning of the episode."""


Episode = tuple[Planned, ...]
"""Faults that overlap, or are one after the other, before the servers have time to settle."""

_TURNS: tuple[Episode, ...] = (
    (Planned(KILL, 0, DOWN_SECONDS),),
    (Planned(FREEZE, 0, FREEZE_SECONDS),),
    (Planned(KILL_NATS, 0, NATS_SECONDS),),
    (Planned(CRASH, 0, CRASH_SECONDS),),
    (Planned(REPLACE, 0, 0.0),),
    (Planned(CUT, 1, CUT_SECONDS),),
    (Planned(CUT_LINK, 0, NATS_SECONDS),),
    (Planned(KILL, 1, DOWN_SECONDS),),
    (Planned(FREEZE, 1, FREEZE_SECONDS),),
    (Planned(CRASH, 0, CRASH_SECONDS),),
    (Planned(CUT, 0, CUT_SECONDS),),
    (Planned(CUT_LINK, 1, NATS_SECONDS),),
)
_LENGTHS: Mapping[str, tuple[float, float]] = {
    KILL: (0.0, 6.0),
    FREEZE: (2.0, FREEZE_SECONDS),
    CUT: (2.0, CUT_SECONDS),
    CRASH: (CRASH_SECONDS, CRASH_SECONDS),
    KILL_NATS: (0.0, NATS_SECONDS),
    CUT_LINK: (2.0, NATS_SECONDS),
    REPLACE: (0.0, 0.0),
}
_OF_ITS_MEMORY = {KILL, FREEZE, CUT}
"""What the server that it befalls may answer after it, it has from before."""


class Fault(msgspec.Struct, frozen=True):
    """A fault that was made; instants in seconds since the Unix epoch."""

    name: str
    place: int
    server: int
    """The number of its start (its row in `nodes`)."""
    began: float
    ended: float


def kinds(*, linked: bool, replaced: bool) -> tuple[str, ...]:
    """Return the faults of servers: with NATS, and with a machine that replaces its processes."""
    missing = {*(() if linked else (KILL_NATS, CUT_LINK)), *(() if replaced else (REPLACE,))}
    return tuple(name for name in _LENGTHS if name not in missing)


def usual(count: int, names: Iterable[str]) -> tuple[Episode, ...]:
    """Return `count` episodes of one of these faults each, taking turns."""
    known = set(names)
    return tuple(islice(cycle(each for each in _TURNS if each[0].name in known), count))


def drawn(seed: int, names: Sequence[str]) -> Episode:
    """Return an episode of one or two of these faults."""
    choose = random.Random(seed)
    faults: list[Planned] = []
    for number in range(choose.choice((1, 1, 2))):
        # A machine does not take processes from each other's hands.
        name = choose.choice([each for each in names if not (faults and each == REPLACE)])
        after = round(choose.uniform(0.0, 8.0), 1) if number else 0.0
        faults.append(Planned(name, choose.randrange(12), round(choose.uniform(*_LENGTHS[name]), 1), after))
    return tuple(faults)


class _Victim(msgspec.Struct, frozen=True):
    place: int
    number: int
    """Of one of its processes; 0: none is known."""
    process: int


async def _kill(cluster: Cluster, victim: _Victim, seconds: float) -> None:
    if cluster.places[victim.place].is_machine:
        # Its supervisor starts another one.
        _signal(victim.process, signal.SIGKILL)
        await trio.sleep(seconds)
        return
    with cluster.kept_down(victim.place):
        await trio.sleep(seconds)


async def _freeze(cluster: Cluster, victim: _Victim, seconds: float) -> None:
    del cluster
    _signal(victim.process, signal.SIGSTOP)
    try:
        await trio.sleep(seconds)
    finally:
        _signal(victim.process, signal.SIGCONT)


async def _cut(cluster: Cluster, victim: _Victim, seconds: float) -> None:
    cluster.relays[victim.place].cut()
    try:
        await trio.sleep(seconds)
    finally:
        cluster.relays[victim.place].mend()


async def _crash(cluster: Cluster, _victim: _Victim, seconds: float) -> None:
    cluster.crash_postgres()
    await trio.sleep(seconds)


async def _kill_nats(cluster: Cluster, _victim: _Victim, seconds: float) -> None:
    assert cluster.nats is not None
    await trio.to_thread.run_sync(cluster.nats.kill)
    try:
        await trio.sleep(seconds)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(cluster.nats.start)


async def _cut_link(cluster: Cluster, victim: _Victim, seconds: float) -> None:
    cluster.links[victim.place].cut()
    try:
        await trio.sleep(seconds)
    finally:
        cluster.links[victim.place].mend()


async def _replace(cluster: Cluster, victim: _Victim, _seconds: float) -> None:
    await cluster.replace(victim.place)


_MAKE: Mapping[str, Callable[[Cluster, _Victim, float], Awaitable[None]]] = {
    KILL: _kill,
    FREEZE: _freeze,
    CUT: _cut,
    CRASH: _crash,
    KILL_NATS: _kill_nats,
    CUT_LINK: _cut_link,
    REPLACE: _replace,
}


async def make_faults(
    cluster: Cluster, episode: Episode, troubles: Troubles, step: Callable[[str], None]
) -> list[Fault]:
    """Make the faults of an episode, and wait until all servers run again."""
    holder = await cluster.holder(DUTY)
    made: list[Fault] = []

    async def make(planned: Planned) -> None:
        await trio.sleep(planned.after)
        victim = await _victim(cluster, planned, holder)
        names = cluster.names
        is_of_all = planned.name in {CRASH, KILL_NATS}
        step(planned.name if is_of_all else f"{planned.name} {names[victim.place]}, {planned.seconds:g} s")
        troubled = range(len(names)) if planned.name == CRASH else ()
        with troubles.during(*((victim.place,) if planned.name in _OF_ITS_MEMORY else troubled)):
            began = time.time()
            await _MAKE[planned.name](cluster, victim, planned.seconds)
            made.append(Fault(planned.name, victim.place, victim.number, began, time.time()))
            if planned.name in _OF_ITS_MEMORY:
                # It may start anew.
                await cluster.until_back(victim.place)

    async with trio.open_nursery() as nursery:
        for planned in episode:
            nursery.start_soon(make, planned)
    await cluster.until_running()
    return made


async def _victim(cluster: Cluster, planned: Planned, holder: tuple[int, int] | None) -> _Victim:
    """Return the process that a fault befalls: of a machine the one that has the duty, if any has."""
    first, number = holder or (0, 0)
    place = (first + planned.on) % len(cluster.places)
    if planned.name == REPLACE:
        place = next(index for index, each in enumerate(cluster.places) if each.is_machine)
    processes = {} if planned.name in {CRASH, KILL_NATS} else await cluster.processes(place)
    if number not in processes:
        number = max(processes, default=0)
    return _Victim(place, number, processes.get(number, 0))


def _signal(process: int, number: signal.Signals) -> None:
    if process:
        with suppress(ProcessLookupError):
            os.kill(process, number)

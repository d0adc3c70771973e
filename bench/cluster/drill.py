"""Terminals, clients and faults on two servers for a while; returns what was noted."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio

from motorpool.bench.checks.server_history import Command, History, Whereabouts
from motorpool.bench.cluster import records
from motorpool.bench.cluster.pair import NAMES, Pair
from motorpool.bench.cluster.probes import CommandProbe, Requested, RightsProbe, Troubles
from motorpool.bench.cluster.records import EdgeRun
from motorpool.bench.cluster.shifts import TEXT, Shifts, make_shifts
from motorpool.bench.load.plan import Mark, RoamerLoad, RoamerPlaces, RoamerResult
from motorpool.bench.load.program import LoadProgram, run_program
from motorpool.bench.options import BenchError

__all__ = ["FAULTS", "Fault", "Noted", "Plan", "run_drill"]

LOGIN_SECONDS = 180.0
ANSWER_SECONDS = 90.0
FREEZE_SECONDS = 20.0
CUT_SECONDS = 14.0
DOWN_SECONDS = 4.0
"""A killed server is started again so much later."""
EDGE_MARGIN_SECONDS = 30.0
"""Edges so shortly before the end need not have fired yet."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is done."""

    phones: tuple[str, ...]
    rate: float
    """Positions a second in all."""
    moves: float
    """Terminals a second that go to the other server."""
    shifts: int
    """Devices with a scheduled command."""
    calm_seconds: float
    """Before the first fault."""
    settle_seconds: float
    """After each."""
    faults: tuple[str, ...]
    """Names in FAULTS."""


class Fault(msgspec.Struct, frozen=True):
    """What was done to a server, from when to when, in seconds since 1970."""

    name: str
    place: int
    began: float
    ended: float


class Noted(msgspec.Struct, frozen=True):
    """The outcome of a drill."""

    history: History
    faults: tuple[Fault, ...]
    result: RoamerResult
    requested: tuple[Requested, ...]
    runs: tuple[EdgeRun, ...]
    calm: tuple[float, float]
    """From when to when there was no fault."""


async def _kill(pair: Pair, place: int) -> None:
    pair.kill(place)
    await trio.sleep(DOWN_SECONDS)
    await pair.start(place)


async def _freeze(pair: Pair, place: int) -> None:
    pair.freeze(place)
    try:
        await trio.sleep(FREEZE_SECONDS)
    finally:
        pair.thaw(place)


async def _cut(pair: Pair, place: int) -> None:
    pair.relays[place].cut()
    try:
        await trio.sleep(CUT_SECONDS)
    finally:
        pair.relays[place].mend()


async def _crash_postgres(pair: Pair, _place: int) -> None:
    pair.crash_postgres()
    await trio.sleep(1.0)


FAULTS: Mapping[str, Callable[[Pair, int], Awaitable[None]]] = {
    "kill": _kill,
    "freeze": _freeze,
    "crash PostgreSQL": _crash_postgres,
    "cut": _cut,
}


async def run_drill(pair: Pair, plan: Plan, step: Callable[[str], None]) -> Noted:
    """Run the load and the faults, and gather what was noted.

    Raises:
        BenchError: a server does not start again, or refuses what is needed.
        LoadFailed: the terminals cannot log in.
    """
    await records.note_versions(pair)
    load = RoamerLoad(
        host=pair.servers[0].host,
        ports=tuple(server.jt808_port for server in pair.servers),
        phones=plan.phones,
        rate=plan.rate,
        moves=plan.moves,
        first_epoch=float(math.floor(time.time()) - records.DAY_SECONDS),
    )
    step(f"{len(plan.phones):,} terminals log in")
    async with _terminals(load) as terminals:
        ids = await _device_ids(pair, plan.phones)
        drill = _Drill(pair, plan, terminals, [ids[phone] for phone in plan.phones], step)
        shifts = await drill.run()
        step("the terminals stop")
        terminals.stop()
        result = await trio.to_thread.run_sync(terminals.wait_for, RoamerResult, ANSWER_SECONDS)
    step("check")
    drill.history.positions = await records.reported(pair, plan.phones, result, load.first_epoch)
    drill.history.versions = await records.versions(pair)
    runs = await records.edge_runs(pair)
    due = shifts.due(0.0, time.time() - EDGE_MARGIN_SECONDS)
    drill.history.edges = records.edges(runs, shifts.targets, due)
    drill.history.commands = _commands(drill.commands.requested, runs, result, drill.devices)
    return Noted(
        drill.history,
        tuple(drill.faults),
        result,
        tuple(drill.commands.requested),
        tuple(runs),
        drill.calm,
    )


@asynccontextmanager
async def _terminals(load: RoamerLoad) -> AsyncIterator[LoadProgram]:
    with run_program("roamers", load) as program:
        await trio.to_thread.run_sync(program.wait_for, Mark, LOGIN_SECONDS)
        yield program


async def _device_ids(pair: Pair, phones: Sequence[str]) -> dict[str, int]:
    rows = await pair.rows("select unique_id, id from devices")
    ids = {row[0]: int(row[1]) for row in rows}
    if missing := set(phones) - ids.keys():
        raise BenchError(f"{len(missing)} terminals are logged in and have no device")
    return ids


class _Drill:
    def __init__(
        self,
        pair: Pair,
        plan: Plan,
        terminals: LoadProgram,
        devices: Sequence[int],
        step: Callable[[str], None],
    ) -> None:
        self.devices = devices
        self.history = History()
        self.faults: list[Fault] = []
        self.calm = (0.0, 0.0)
        self.commands = CommandProbe(pair, devices)
        self._pair = pair
        self._plan = plan
        self._terminals = terminals
        self._step = step
        self._troubles = Troubles()

    async def run(self) -> Shifts:
        """Send commands, change rights, let edges come, and make one fault after the other."""
        plan = self._plan
        rights = RightsProbe(self._pair, self.devices[: 3 * plan.shifts : 3], self._troubles)
        await rights.prepare()
        seconds = plan.calm_seconds + sum(
            plan.settle_seconds + FREEZE_SECONDS + DOWN_SECONDS for _ in plan.faults
        )
        async with self._pair.client(0) as client:
            devices = self.devices[: plan.shifts]
            shifts = await make_shifts(self._pair, client, devices, time.time() + 10, seconds)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.commands.run)
            nursery.start_soon(rights.run)
            began = time.time()
            await trio.sleep(plan.calm_seconds)
            self.calm = (began, time.time())
            for turn, name in enumerate(plan.faults):
                await self._make_fault(name, turn % 2)
            nursery.cancel_scope.cancel()
        self.history.changes, self.history.reads = rights.changes, rights.reads
        return shifts

    async def _make_fault(self, name: str, place: int) -> None:
        self._step(f"{name} {'' if 'Post' in name else NAMES[place]}".rstrip())
        both = (0, 1) if name == "crash PostgreSQL" else (place,)
        for each in both:
            self._troubles.begin(each)
        began = time.time()
        try:
            await FAULTS[name](self._pair, place)
        finally:
            for each in both:
                self._troubles.end(each)
        self.faults.append(Fault(name, place, began, time.time()))
        await trio.sleep(self._plan.settle_seconds)
        if self._pair.servers[place].process.poll() is not None:
            # A server that finds itself declared dead ends where nothing starts it again.
            await self._pair.start(place)
        self.history.whereabouts += await self._whereabouts(self.faults[-1].ended)

    async def _whereabouts(self, fault_ended: float) -> list[Whereabouts]:
        """Compare where terminals are connected with the table `homes`.

        Which number a server has is taken from the homes of most of the devices that are connected to it.
        """
        self._terminals.send_line("where")
        places = await trio.to_thread.run_sync(self._terminals.wait_for, RoamerPlaces, ANSWER_SECONDS)
        rows = await self._pair.rows(
            "select device_id, node from homes join nodes on nodes.id = node where nodes.state <> 'dead'"
        )
        homes = {int(row[0]): int(row[1]) for row in rows}
        votes: dict[int, Counter[int]] = defaultdict(Counter)
        for device, server in zip(self.devices, places.servers, strict=True):
            votes[server][homes.get(device, 0)] += 1
        numbers = {server: found.most_common(1)[0][0] for server, found in votes.items() if server >= 0}
        return [
            Whereabouts(
                f"device {device}",
                numbers.get(server, 0),
                homes.get(device, 0),
                # One that is connected nowhere, although it has tried all the time.
                places.instant - (max(fault_ended, since) if server >= 0 else fault_ended),
            )
            for device, server, since in zip(self.devices, places.servers, places.since, strict=True)
        ]


def _commands(
    requested: Sequence[Requested], runs: Sequence[EdgeRun], result: RoamerResult, devices: Sequence[int]
) -> list[Command]:
    """Return the commands of the probe, and for each device those of its edges beside their run records."""
    arrivals = Counter(each.text for each in result.texts)
    found = [Command(each.text, each.result, arrivals[each.text]) for each in requested]
    recorded = Counter(run.device for run in runs)
    arrived = Counter(devices[each.terminal] for each in result.texts if each.text == TEXT)
    for device, count in arrived.items():
        more = count - recorded[device]
        found.append(Command(f"edges of device {device}", "ok", 1 + more if more > 0 else 1))
    return found

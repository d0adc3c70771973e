"""Terminals, cameras, clients and faults on two servers for a while: the history, and its anomalies."""

import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import msgspec
import trio

from motorpool.bench.checks.server_history import Anomaly, Command, History, Whereabouts, find_anomalies
from motorpool.bench.cluster import records
from motorpool.bench.cluster.faults import Episode, Fault, make_faults
from motorpool.bench.cluster.frequent_schedules import TEXT, FrequentSchedules, make_frequent_schedules
from motorpool.bench.cluster.pair import Pair
from motorpool.bench.cluster.probes import CommandProbe, Requested, RightsProbe, Troubles
from motorpool.bench.cluster.records import DutyTaken, EdgeRun
from motorpool.bench.cluster.viewers import StreamProbe
from motorpool.bench.load.plan import (
    CameraLoad,
    CameraResult,
    Load,
    Mark,
    Message,
    RoamerLoad,
    RoamerPlaces,
    RoamerResult,
    SocketLoad,
    SocketResult,
)
from motorpool.bench.load.program import LoadProgram, run_program
from motorpool.bench.options import BenchError

LOGIN_SECONDS = 180.0
ANSWER_SECONDS = 90.0
EDGE_MARGIN_SECONDS = 30.0
"""Edges that were due so shortly before need not have fired yet."""
FIRST_EDGE_SECONDS = 10.0
EPISODE_SECONDS = 40.0
"""About the longest one, without the time for settling."""
STREAM_SECONDS = 60.0
"""For the streams to begin."""
TIMED_SECONDS = 120.0
"""Longer than the baseline phase and all before it."""


M = TypeVar("M", bound=Message)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is done."""

    phones: tuple[str, ...]
    cameras: tuple[str, ...]
    """Phone numbers of terminals that stream."""
    loop_file: str
    """File with what they send."""
    rate: float
    """Positions a second in all."""
    moves: float
    """Terminals a second that go to the other server."""
    schedules: int
    """Devices with a scheduled command."""
    calm_seconds: float
    """Before the first fault; what is measured in it."""
    settle_seconds: float
    """After each episode."""
    episodes: tuple[Episode, ...]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements from before cameras stream and faults begin."""

    began: float
    """Seconds since 1970."""
    ended: float
    answers: int
    """Positions that were acknowledged."""
    server_seconds: float
    """CPU of both servers."""
    database_seconds: float
    """CPU of PostgreSQL."""
    sockets: SocketResult


class DrillOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a drill."""

    plan: Plan
    history: History
    anomalies: tuple[Anomaly, ...]
    """All that were found at any time."""
    faults: tuple[Fault, ...]
    baseline: Baseline
    first_epoch: float
    """Device time of position 0 of each terminal."""
    devices: tuple[int, ...]
    """Of the terminals, in their order."""
    filmed: tuple[int, ...]
    """Devices of the cameras, in their order."""
    result: RoamerResult
    cameras: CameraResult | None
    requested: tuple[Requested, ...]
    runs: tuple[EdgeRun, ...]
    taken: tuple[DutyTaken, ...]


async def run_drill(
    pair: Pair, plan: Plan, step: Callable[[str], None], tell: Callable[[str], None]
) -> DrillOutcome:
    """Run the load and the faults, and check the history after each episode.

    `step` shows what is done, and `tell` an anomaly once it is found.

    Raises:
        BenchError: a server does not start again, or refuses what is needed.
        LoadFailed: the terminals cannot log in.
    """
    await records.note(pair)
    ports = tuple(server.jt808_port for server in pair.servers)
    load = RoamerLoad(
        host=pair.servers[0].host,
        ports=ports,
        phones=plan.phones,
        rate=plan.rate,
        moves=plan.moves,
        first_epoch=float(math.floor(time.time()) - records.DAY_SECONDS),
        timed_seconds=TIMED_SECONDS,
    )
    step(f"{len(plan.phones):,} terminals and {len(plan.cameras)} cameras log in")
    async with _logged_in("roamers", load) as terminals:
        if not plan.cameras:
            return await _Drill(pair, plan, load, terminals, None, step, tell).run()
        filming = CameraLoad(host=load.host, ports=ports, phones=plan.cameras, loop_file=plan.loop_file)
        async with _logged_in("cameras", filming) as cameras:
            return await _Drill(pair, plan, load, terminals, cameras, step, tell).run()


@asynccontextmanager
async def _logged_in(name: str, load: Load) -> AsyncIterator[LoadProgram]:
    with run_program(name, load) as program:
        await _wait_for(program, Mark, LOGIN_SECONDS)
        yield program


async def _wait_for(program: LoadProgram, kind: type[M], seconds: float = ANSWER_SECONDS) -> M:
    """Wait for a message. Who is interrupted does not wait: the program is killed then."""
    return await trio.to_thread.run_sync(program.wait_for, kind, seconds, abandon_on_cancel=True)


class _Drill:
    def __init__(
        self,
        pair: Pair,
        plan: Plan,
        load: RoamerLoad,
        terminals: LoadProgram,
        cameras: LoadProgram | None,
        step: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        self._pair = pair
        self._plan = plan
        self._load = load
        self._terminals = terminals
        self._cameras = cameras
        self._step = step
        self._tell = tell
        self._devices: list[int] = []
        self._filmed: list[int] = []
        self._troubles = Troubles()
        self._faults: list[Fault] = []
        self._whereabouts: list[Whereabouts] = []
        self._anomalies: set[Anomaly] = set()
        self._shifts: FrequentSchedules
        self._commands: CommandProbe
        self._rights: RightsProbe
        self._streams: StreamProbe

    async def run(self) -> DrillOutcome:
        """Send commands, change rights, let edges come, watch streams, and make one fault after the other."""
        await self._prepare()
        plan = self._plan
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._commands.run)
            nursery.start_soon(self._rights.run)
            baseline = await self._measure_baseline()
            if self._filmed:
                self._step("the cameras stream")
                nursery.start_soon(self._streams.run)
                with trio.move_on_after(STREAM_SECONDS):
                    await self._streams.until_all_are_seen()
            nursery.start_soon(self._pair.keep_running)
            for episode in plan.episodes:
                self._faults += await make_faults(self._pair, episode, self._troubles, self._step)
                ended = time.time()
                await trio.sleep(plan.settle_seconds)
                await self._pair.until_running()
                self._whereabouts += await self._compare_homes(ended)
                await self._check(await self._result())
            nursery.cancel_scope.cancel()
        self._step("the terminals stop")
        self._terminals.stop()
        result = await _wait_for(self._terminals, RoamerResult)
        filmed = None
        if self._cameras is not None:
            self._cameras.stop()
            filmed = await _wait_for(self._cameras, CameraResult)
        self._step("check")
        history = await self._check(result, is_last=True)
        return DrillOutcome(
            plan=plan,
            history=history,
            anomalies=tuple(sorted(self._anomalies)),
            faults=tuple(self._faults),
            baseline=baseline,
            first_epoch=self._load.first_epoch,
            devices=tuple(self._devices),
            filmed=tuple(self._filmed),
            result=result,
            cameras=filmed,
            requested=tuple(self._commands.requested),
            runs=tuple(await records.edge_runs(self._pair)),
            taken=tuple(await records.duties_taken(self._pair)),
        )

    async def _prepare(self) -> None:
        plan, pair = self._plan, self._pair
        rows = await pair.rows("select unique_id, id from devices")
        ids = {row[0]: int(row[1]) for row in rows}
        if missing := {*plan.phones, *plan.cameras} - ids.keys():
            raise BenchError(f"{len(missing)} terminals are logged in and have no device")
        self._devices = [ids[phone] for phone in plan.phones]
        self._filmed = [ids[phone] for phone in plan.cameras]
        self._commands = CommandProbe(pair, self._devices)
        self._rights = RightsProbe(pair, self._devices[: 3 * plan.schedules : 3], self._troubles)
        self._streams = StreamProbe(pair, self._filmed, self._troubles)
        await self._rights.prepare()
        episodes = len(plan.episodes) * (plan.settle_seconds + EPISODE_SECONDS)
        seconds = plan.calm_seconds + STREAM_SECONDS + episodes
        async with pair.client(0) as client:
            begin = time.time() + FIRST_EDGE_SECONDS
            self._shifts = await make_frequent_schedules(
                pair, client, self._devices[: plan.schedules], begin, seconds
            )

    async def _measure_baseline(self) -> Baseline:
        """Measure for a while without faults."""
        pair = self._pair
        ports = tuple(int(server.url.rpartition(":")[2]) for server in pair.servers)
        load = SocketLoad(
            host=self._load.host, ports=ports, token=pair.token, seconds=self._plan.calm_seconds
        )
        async with _logged_in("sockets", load) as sockets:
            self._step("no faults")
            before, began, (servers, database) = await self._result(), time.time(), pair.cpu_seconds()
            await trio.sleep(self._plan.calm_seconds)
            after, ended, (servers_after, database_after) = (
                await self._result(),
                time.time(),
                pair.cpu_seconds(),
            )
            arrivals = await _wait_for(sockets, SocketResult)
        return Baseline(
            began=began,
            ended=ended,
            answers=after.answers - before.answers,
            server_seconds=servers_after - servers,
            database_seconds=database_after - database,
            sockets=arrivals,
        )

    async def _result(self) -> RoamerResult:
        self._terminals.send_line("result")
        return await _wait_for(self._terminals, RoamerResult)

    async def _compare_homes(self, fault_ended: float) -> list[Whereabouts]:
        """Compare where terminals are connected with the table `homes`."""
        self._terminals.send_line("where")
        places = await _wait_for(self._terminals, RoamerPlaces)
        rows = await self._pair.rows(
            "select device_id, node from homes join nodes on nodes.id = node where nodes.state <> 'dead'"
        )
        homes = {int(row[0]): int(row[1]) for row in rows}
        numbers = await self._pair.numbers()
        return [
            Whereabouts(
                f"device {device}",
                numbers[server] if server >= 0 else 0,
                homes.get(device, 0),
                places.instant - max(fault_ended, since),
            )
            for device, server, since in zip(self._devices, places.servers, places.since, strict=True)
        ]

    async def _check(self, result: RoamerResult, *, is_last: bool = False) -> History:
        """Check the history up to this result, and report new anomalies."""
        # Commands and edges first: what they have led to is read after them.
        requested = list(self._commands.requested)
        due = self._shifts.due(0.0, time.time() - EDGE_MARGIN_SECONDS)
        runs = await records.edge_runs(self._pair)
        first = self._load.first_epoch
        history = History(
            positions=await records.reported(self._pair, self._plan.phones, result, first, is_last=is_last),
            commands=_commands(requested, runs, result, self._devices),
            edges=records.edges(runs, self._shifts.targets, due),
            segments=list(self._streams.segments),
            playlists=list(self._streams.playlists),
            decisions=await records.decisions(self._pair),
            versions=await records.versions(self._pair),
            changes=list(self._rights.changes),
            reads=list(self._rights.reads),
            whereabouts=list(self._whereabouts),
        )
        found = await trio.to_thread.run_sync(find_anomalies, history)
        for anomaly in sorted(set(found) - self._anomalies):
            self._tell(f"{anomaly.rule}: {anomaly.text}")
        self._anomalies.update(found)
        return history


def _commands(
    requested: Sequence[Requested], runs: Sequence[EdgeRun], result: RoamerResult, devices: Sequence[int]
) -> list[Command]:
    """Return the probe's commands, and each device's edge commands beside their run records."""
    arrivals = Counter(each.text for each in result.texts)
    found = [Command(each.text, each.result, arrivals[each.text]) for each in requested]
    recorded = Counter(run.device for run in runs)
    arrived = Counter(devices[each.terminal] for each in result.texts if each.text == TEXT)
    for device, count in arrived.items():
        more = count - recorded[device]
        found.append(Command(f"edges of device {device}", "ok", 1 + more if more > 0 else 1))
    return found

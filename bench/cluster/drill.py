"""Terminals, cameras, clients and faults on servers for a while: the history, and its anomalies."""

import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx
import msgspec
import trio

from motorpool.bench.checks.server_history import (
    Anomaly,
    Command,
    History,
    Shown,
    Whereabouts,
    find_anomalies,
)
from motorpool.bench.cluster import records
from motorpool.bench.cluster.cluster import Cluster
from motorpool.bench.cluster.faults import CRASH, CUT, FREEZE, KILL, REPLACE, Episode, Fault, make_faults
from motorpool.bench.cluster.frequent_schedules import TEXT, FrequentSchedules, make_frequent_schedules
from motorpool.bench.cluster.probes import CommandProbe, Requested, RightsProbe, Troubles
from motorpool.bench.cluster.records import Absence, DutyTaken, EdgeRun
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
BEFORE_SECONDS, SENT_SECONDS, QUEUED_SECONDS = 1.0, 3.0, 15.0
"""A device that stays connected from so long before a command until so long after it gets it."""
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
    """Terminals a second that go to another server."""
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
    """CPU of all servers."""
    database_seconds: float
    """CPU of PostgreSQL."""
    sockets: SocketResult


class DrillOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a drill."""

    plan: Plan
    names: tuple[str, ...]
    """Of the places of servers."""
    machines: tuple[int, ...]
    """The places with several processes."""
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
    asked_by_reader: tuple[Requested, ...]
    """Commands of a user whose rights change."""
    runs: tuple[EdgeRun, ...]
    taken: tuple[DutyTaken, ...]


async def run_drill(
    cluster: Cluster, plan: Plan, step: Callable[[str], None], tell: Callable[[str], None]
) -> DrillOutcome:
    """Run the load and the faults, and check the history after each episode.

    `step` shows what is done, and `tell` an anomaly once it is found.

    Raises:
        BenchError: a server does not start again, or refuses what is needed.
        LoadFailed: the terminals cannot log in.
    """
    await records.note(cluster)
    ports = tuple(server.jt808_port for server in cluster.servers)
    load = RoamerLoad(
        host=cluster.servers[0].host,
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
            return await _Drill(cluster, plan, load, terminals, None, step, tell).run()
        filming = CameraLoad(host=load.host, ports=ports, phones=plan.cameras, loop_file=plan.loop_file)
        async with _logged_in("cameras", filming) as cameras:
            return await _Drill(cluster, plan, load, terminals, cameras, step, tell).run()


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
        cluster: Cluster,
        plan: Plan,
        load: RoamerLoad,
        terminals: LoadProgram,
        cameras: LoadProgram | None,
        step: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        self._cluster = cluster
        self._plan = plan
        self._load = load
        self._terminals = terminals
        self._cameras = cameras
        self._step = step
        self._tell = tell
        self._devices: list[int] = []
        self._places: dict[int, int] = {}
        """Of the devices among the terminals."""
        self._filmed: list[int] = []
        self._troubles = Troubles(cluster.names)
        self._faults: list[Fault] = []
        self._whereabouts: list[Whereabouts] = []
        self._shown: list[Shown] = []
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
            nursery.start_soon(self._cluster.keep_running)
            for episode in plan.episodes:
                self._faults += await make_faults(self._cluster, episode, self._troubles, self._step)
                ended = time.time()
                await trio.sleep(plan.settle_seconds)
                await self._cluster.until_running()
                await self._compare_homes(ended)
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
            names=tuple(self._cluster.names),
            machines=tuple(place for place, each in enumerate(self._cluster.places) if each.is_machine),
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
            asked_by_reader=tuple(self._rights.requested),
            runs=tuple(await records.edge_runs(self._cluster)),
            taken=tuple(await records.duties_taken(self._cluster)),
        )

    async def _prepare(self) -> None:
        plan, cluster = self._plan, self._cluster
        rows = await cluster.rows("select unique_id, id from devices")
        ids = {row[0]: int(row[1]) for row in rows}
        if missing := {*plan.phones, *plan.cameras} - ids.keys():
            raise BenchError(f"{len(missing)} terminals are logged in and have no device")
        self._devices = [ids[phone] for phone in plan.phones]
        self._places = {device: place for place, device in enumerate(self._devices)}
        self._filmed = [ids[phone] for phone in plan.cameras]
        self._commands = CommandProbe(cluster, self._devices, self._troubles)
        self._rights = RightsProbe(cluster, self._devices[: 3 * plan.schedules : 3], self._troubles)
        self._streams = StreamProbe(cluster, self._filmed, self._troubles)
        await self._rights.prepare()
        episodes = len(plan.episodes) * (plan.settle_seconds + EPISODE_SECONDS)
        seconds = plan.calm_seconds + STREAM_SECONDS + episodes
        async with cluster.client(0) as client:
            begin = time.time() + FIRST_EDGE_SECONDS
            self._shifts = await make_frequent_schedules(
                client, self._devices[: plan.schedules], begin, seconds
            )

    async def _measure_baseline(self) -> Baseline:
        """Measure for a while without faults."""
        cluster = self._cluster
        ports = tuple(int(server.url.rpartition(":")[2]) for server in cluster.servers)
        load = SocketLoad(
            host=self._load.host, ports=ports, token=cluster.token, seconds=self._plan.calm_seconds
        )
        async with _logged_in("sockets", load) as sockets:
            self._step("no faults")
            before, began, (servers, database) = await self._result(), time.time(), cluster.cpu_seconds()
            await trio.sleep(self._plan.calm_seconds)
            after, ended, (servers_after, database_after) = (
                await self._result(),
                time.time(),
                cluster.cpu_seconds(),
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

    async def _compare_homes(self, fault_ended: float) -> None:
        """Compare where terminals are connected with the table `homes`, and with what each server shows."""
        cluster = self._cluster
        self._terminals.send_line("where")
        places = await _wait_for(self._terminals, RoamerPlaces)
        rows = await cluster.rows(
            "select device_id, node from homes join nodes on nodes.id = node where nodes.state <> 'dead'"
        )
        homes = {int(row[0]): int(row[1]) for row in rows}
        numbers = await cluster.numbers()
        connected: dict[int, float] = {}
        for device, place, since in zip(self._devices, places.servers, places.since, strict=True):
            home = homes.get(device, 0)
            # Which process of a machine it is cannot be seen from outside.
            here = (0,) if place < 0 else numbers[place]
            number = home if home in here else max(here, default=0)
            passed = places.instant - max(fault_ended, since)
            self._whereabouts.append(Whereabouts(f"device {device}", number, home, passed))
            if place >= 0:
                connected[device] = passed
        async with cluster.clients() as clients:
            for place, client in enumerate(clients):
                await self._compare_statuses(place, client, connected)

    async def _compare_statuses(
        self, place: int, client: httpx.AsyncClient, connected: Mapping[int, float]
    ) -> None:
        """Compare the devices that are connected somewhere with what a server shows."""
        try:
            answer = await client.get("/devices")
        except httpx.HTTPError as error:
            self._troubles.note_error(place, "GET /devices", error, was_clear=True)
            return
        statuses = {device["id"]: device["status"] for device in answer.raise_for_status().json()}
        name = self._cluster.names[place]
        self._shown += [
            Shown(f"device {device}", name, statuses.get(device, "not there"), passed)
            for device, passed in connected.items()
        ]

    async def _check(self, result: RoamerResult, *, is_last: bool = False) -> History:
        """Check the history up to this result, and report new anomalies."""
        # Commands and edges first: what they have led to is read after them.
        absences = await self._unplanned_absences()
        requested = [*self._commands.requested, *self._rights.requested]
        instant = time.time()
        due = self._shifts.due(0.0, time.time() - EDGE_MARGIN_SECONDS)
        runs = await records.edge_runs(self._cluster)
        first = self._load.first_epoch
        history = History(
            positions=await records.reported(
                self._cluster, self._plan.phones, result, first, is_last=is_last
            ),
            commands=_commands(
                [(each, self._is_due(each, result, instant, absences)) for each in requested],
                runs,
                result,
                self._devices,
            ),
            edges=records.edges(runs, self._shifts.targets, due),
            segments=list(self._streams.segments),
            playlists=list(self._streams.playlists),
            decisions=await records.decisions(self._cluster),
            versions=await records.versions(self._cluster),
            changes=list(self._rights.changes),
            reads=list(self._rights.reads),
            whereabouts=list(self._whereabouts),
            shown=list(self._shown),
            unanswered=[
                each
                for each in self._troubles.unanswered
                if not any(
                    self._cluster.names[absence.place] == each.server
                    and absence.began <= each.instant <= absence.ended
                    for absence in absences
                )
            ],
        )
        found = await trio.to_thread.run_sync(find_anomalies, history)
        for anomaly in sorted(set(found) - self._anomalies):
            self._tell(f"{anomaly.rule}: {anomaly.text}")
        self._anomalies.update(found)
        return history

    async def _unplanned_absences(self) -> list[Absence]:
        """Return when servers were away, as on a busy machine, but not processes that were replaced."""
        replaced = [fault for fault in self._faults if fault.name == REPLACE]
        return [
            absence
            for absence in await records.absences(self._cluster)
            if not any(
                fault.place == absence.place and fault.began <= absence.died <= fault.ended
                for fault in replaced
            )
        ]

    def _is_due(
        self, command: Requested, result: RoamerResult, instant: float, absences: Sequence[Absence]
    ) -> bool:
        """Return whether a command that was accepted must have reached its device at this instant.

        It must if the device stayed where it was all the while, at a server without a fault: it has it at
        once, or soon if it was queued.
        """
        first = command.invoked - BEFORE_SECONDS
        last = command.answered + (QUEUED_SECONDS if command.is_queued else SENT_SECONDS)
        if last > instant:
            return False
        terminal = self._places[command.device]
        places = [
            session.server
            for session in result.sessions
            if session.terminal == terminal and session.began < first and not 0 < session.ended < last
        ]
        faults = [fault for fault in self._faults if fault.began < last and fault.ended > first]
        if not places or any(
            absence.place == places[-1] and absence.began < last and absence.ended > first
            for absence in absences
        ):
            return False
        return not any(
            fault.name == CRASH or (fault.place == places[-1] and fault.name in {KILL, FREEZE, CUT, REPLACE})
            for fault in faults
        )


def _commands(
    requested: Sequence[tuple[Requested, bool]],
    runs: Sequence[EdgeRun],
    result: RoamerResult,
    devices: Sequence[int],
) -> list[Command]:
    """Return the probes' commands, and whether each is due, and edge commands beside their run records."""
    arrivals = Counter(each.text for each in result.texts)
    found = [Command(each.text, each.result, arrivals[each.text], is_due) for each, is_due in requested]
    recorded = Counter(run.device for run in runs)
    arrived = Counter(devices[each.terminal] for each in result.texts if each.text == TEXT)
    for device, count in arrived.items():
        more = count - recorded[device]
        found.append(Command(f"edges of device {device}", "ok", 1 + more if more > 0 else 1))
    return found

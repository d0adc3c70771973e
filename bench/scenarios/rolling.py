"""Server processes of one machine that are replaced one by one, under terminals, cameras and viewers."""

import io
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence

import av
import httpx
import msgspec
import trio

from motorpool.bench.cluster.cluster import Start
from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import Mark, RoamerLoad, RoamerResult
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.measured_server import device_ids
from motorpool.bench.options import BenchError, Options, Step
from motorpool.bench.server import Server, run_server, start_process
from motorpool.bench.target import Target
from motorpool.bench.vehicles.fleet import Fleet, plan_fleet
from motorpool.bench.viewer import Viewer, listed_segments
from motorpool.runtime.clock import SystemClock

NAME = "rolling"
TITLE = "a rolling restart of two processes: connections, requests, acknowledged positions, viewers' pictures"
SERVER = "own"
STEPS = 4
PREFIX = "137"
NODES = 2
CAMERAS = 4
VIEWERS = 20
SECONDS_BETWEEN = 10.0
"""Between two positions of a terminal."""
PROBES_A_SECOND = 10.0
LOGIN_SECONDS = 180.0
FIRST_SECONDS = 60.0
"""For all viewers to have pictures."""
ROLL_SECONDS = 300.0
"""For a process to be replaced: its place is taken within 60 s, and it leaves within 70."""
CALM_SECONDS = 10.0
"""Before, and after."""
ANSWER_SECONDS = 30.0
DAY_SECONDS = 86_400
REPLACED = "all servers have been replaced"
ENDED = "ended by a user"


class Watched(msgspec.Struct):
    """What one viewer has seen."""

    refused: Counter[str] = msgspec.field(default_factory=Counter)
    """Requests that were not answered with 200, by what they got."""
    segments: int = 0
    missed: int = 0
    stalls: int = 0
    breaks: int = 0
    """Playlists whose numbers do not continue those before."""
    discontinuities: set[int] = msgspec.field(default_factory=set)
    """Segments that follow one."""
    longest_wait: float = 0.0
    """Seconds between two segments."""


class Outcome(msgspec.Struct, frozen=True):
    """What became of everything."""

    seconds: float
    """From the signal until all were replaced."""
    failed_connections: Counter[str]
    connections: int
    viewers: list[Watched]
    sent: int
    lost: int
    """Positions that were acknowledged and are not stored."""
    twice: int
    """Positions that were acknowledged and are stored more than once."""
    ended_early: Counter[str]
    """Captures, one of each camera, that have ended before they were asked to, by why."""
    uncaptured: float
    """Seconds that the shortest file is shorter than the time in which it was made."""


def run(options: Options, summary: Summary, step: Step) -> None:
    """Replace the processes under load."""
    outcome = measure(options.terminals, CAMERAS, VIEWERS, step)
    seen = outcome.viewers
    early = outcome.ended_early.total()
    summary.add(NAME, "captures ended early", early, "captures", goals=(Goal(0),))
    summary.add(NAME, "most missing of a capture", outcome.uncaptured, "s")
    summary.add(NAME, "time until all are replaced", outcome.seconds, "s")
    summary.add(NAME, "connections", outcome.connections, "connections")
    failed = outcome.failed_connections.total()
    summary.add(NAME, "connections refused or without an answer", failed, "connections", goals=(Goal(0),))
    summary.add(NAME, "positions sent", outcome.sent, "positions")
    summary.add(NAME, "acknowledged and lost", outcome.lost, "positions", goals=(Goal(0),))
    refused = sum(each.refused.total() for each in seen)
    summary.add(NAME, "requests of viewers refused", refused, "requests", goals=(Goal(0),))
    summary.add(NAME, "segments", sum(each.segments for each in seen), "segments")
    summary.add(NAME, "segments missed", sum(each.missed for each in seen), "segments", goals=(Goal(0),))
    summary.add(NAME, "playlists begun anew", sum(each.breaks for each in seen), "times", goals=(Goal(0),))
    summary.add(NAME, "most discontinuities", max(len(each.discontinuities) for each in seen), "times")
    summary.add(NAME, "stalls", sum(each.stalls for each in seen), "times")
    summary.add(NAME, "longest wait for a segment", max(each.longest_wait for each in seen), "s")


def measure(terminals: int, cameras: int, viewers: int, step: Step, start: Start = start_process) -> Outcome:
    """Replace two processes under so many terminals, cameras and viewers; `start` as in `run_server`.

    Raises:
        BenchError: a server does not start, or no viewer gets pictures.
    """
    step(f"{NODES} processes start")
    with run_server({"MOTORPOOL_NODES": str(NODES)}, start) as server:
        phones = server.phones(PREFIX, terminals)
        load = RoamerLoad(
            host=server.host,
            ports=(server.jt808_port,),
            phones=phones,
            rate=max(1.0, terminals / SECONDS_BETWEEN),
            moves=0.0,
            first_epoch=float(math.floor(time.time()) - DAY_SECONDS),
        )
        fleet = _small_pictures(plan_fleet(vehicles=cameras, channels=1, frames_per_second=5))
        step(f"{terminals:,} terminals and {cameras} cameras log in")
        try:
            with run_program("roamers", load) as program:
                program.wait_for(Mark, LOGIN_SECONDS)
                return trio.run(_Roll(server, fleet, viewers, load, program, step).run)
        except LoadFailed as error:
            raise BenchError(f"terminals: {error}") from error


def _small_pictures(fleet: Fleet) -> Fleet:
    """Return the fleet with cameras that keep their pace beside everything else."""
    video = {"width": 256, "height": 144}
    return msgspec.structs.replace(
        fleet,
        vehicles=tuple(
            msgspec.structs.replace(plan, video=msgspec.structs.replace(plan.video, **video))
            for plan in fleet.vehicles
        ),
    )


class _Roll:
    def __init__(
        self, server: Server, fleet: Fleet, viewers: int, load: RoamerLoad, program: LoadProgram, step: Step
    ) -> None:
        self._server = server
        self._fleet = fleet
        self._load = load
        self._program = program
        self._step = step
        self._seen = [Watched() for _ in range(viewers)]
        self._failed: Counter[str] = Counter()
        self._connections = 0
        self._early: Counter[str] = Counter()
        self._uncaptured = 0.0

    async def run(self) -> Outcome:
        """Begin to view, replace all, and count."""
        server = self._server
        async with trio.open_nursery() as nursery:
            target = Target(host=server.host, port_offset=server.offset)
            nursery.start_soon(self._fleet.run, target, SystemClock())
            devices = await trio.to_thread.run_sync(self._cameras)
            headers = {"Authorization": f"Bearer {await trio.to_thread.run_sync(self._token)}"}
            for number, seen in enumerate(self._seen):
                nursery.start_soon(self._view, headers, devices[number % len(devices)], seen)
            with trio.move_on_after(FIRST_SECONDS) as patience:
                while not all(seen.segments for seen in self._seen):  # noqa: ASYNC110 - of other programs
                    await trio.sleep(0.1)
            if patience.cancelled_caught:
                raise BenchError("not all viewers got pictures")
            for seen in self._seen:
                seen.refused.clear()
                seen.discontinuities.clear()
                seen.longest_wait = 0.0
            nursery.start_soon(self._probe)
            captured = await trio.to_thread.run_sync(self._capture, devices)
            self._step("the processes are replaced")
            await trio.sleep(CALM_SECONDS)
            began = time.monotonic()
            os.kill(server.process.pid, signal.SIGHUP)
            with trio.fail_after(ROLL_SECONDS):
                while REPLACED not in server.log:  # noqa: ASYNC110 - as above
                    await trio.sleep(0.2)
            seconds = time.monotonic() - began
            await trio.sleep(CALM_SECONDS)
            await trio.to_thread.run_sync(self._end_captures, captured)
            nursery.cancel_scope.cancel()
        self._step("check")
        self._program.stop()
        result = await trio.to_thread.run_sync(self._program.wait_for, RoamerResult, LOGIN_SECONDS)
        lost, twice = await trio.to_thread.run_sync(self._compare, result)
        return Outcome(
            seconds,
            self._failed,
            self._connections,
            self._seen,
            sum(result.sent),
            lost,
            twice,
            self._early,
            self._uncaptured,
        )

    def _token(self) -> str:
        with self._server.client() as client:
            return client.post("/session/token").raise_for_status().text

    def _cameras(self) -> Sequence[int]:
        wanted = [plan.phone for plan in self._fleet.vehicles]
        deadline = time.monotonic() + FIRST_SECONDS
        while time.monotonic() < deadline:
            with self._server.client() as client:
                ids = device_ids(client)
                online = {each["id"] for each in client.get("/devices").json() if each["status"] == "online"}
            if all(ids.get(phone) in online for phone in wanted):
                return [ids[phone] for phone in wanted]
            time.sleep(0.2)
        raise BenchError("the cameras do not log in")

    def _capture(self, devices: Sequence[int]) -> dict[str, float]:
        """Begin a capture of each camera; return when, by id."""
        begun = {}
        with self._server.client() as client:
            for device in devices:
                query: dict[str, str | int] = {"deviceId": device, "channel": 1, "live": "true"}
                answer = client.post("/captures", params=query).raise_for_status()
                begun[answer.json()["id"]] = time.monotonic()
        return begun

    def _end_captures(self, begun: dict[str, float]) -> None:
        with self._server.client() as client:
            for capture, at in begun.items():
                ended = client.delete(f"/captures/{capture}").raise_for_status().json()
                seconds = time.monotonic() - at
                if ended["reason"] != ENDED:
                    self._early[f"{ended['status']}: {ended['reason']}"] += 1
                    continue
                content = client.get(ended["url"].removeprefix("/api")).raise_for_status().content
                with av.open(io.BytesIO(content), "r") as film:
                    self._uncaptured = max(self._uncaptured, seconds - (film.duration or 0) / 1e6)

    async def _view(self, headers: dict[str, str], device: int, seen: Watched) -> None:
        viewer = Viewer(f"/stream/{device}/1", time.perf_counter())
        latest, last_at = -1, 0.0
        async with httpx.AsyncClient(
            base_url=f"{self._server.url}/api", headers=headers, timeout=ANSWER_SECONDS
        ) as client:
            while True:
                await trio.sleep(max(0.0, viewer.due - time.perf_counter()))
                wants_segment, asked = viewer.wants_segment, time.perf_counter()
                path = viewer.request()
                try:
                    answer = await client.get(path)
                    problem = "" if answer.status_code == 200 else f"{answer.status_code} {answer.text[:80]}"
                except httpx.HTTPError as error:
                    problem = repr(error)
                now = time.perf_counter()
                if problem:
                    seen.refused[f"{'segment' if wants_segment else 'playlist'}: {problem}"] += 1
                    if wants_segment:
                        viewer.skip_segment()
                    viewer.due = now + 1.0
                elif wants_segment:
                    viewer.take_segment(now)
                    seen.segments += 1
                    seen.longest_wait = max(seen.longest_wait, now - last_at if last_at else 0.0)
                    last_at = now
                else:
                    listed = [index for index, _ in listed_segments(answer.text)]
                    if listed and latest >= 0 and not (listed[0] <= latest + 1 and listed[-1] >= latest):
                        seen.breaks += 1
                    latest = listed[-1] if listed else latest
                    seen.discontinuities |= _after_discontinuities(answer.text)
                    viewer.take_playlist(answer.text, asked)
                seen.missed, seen.stalls = viewer.missed, viewer.stalls

    async def _probe(self) -> None:
        """Connect again and again, and ask for something that is read in the database."""
        async with trio.open_nursery() as nursery:
            while True:
                nursery.start_soon(self._connect_once)
                await trio.sleep(1 / PROBES_A_SECOND)

    async def _connect_once(self) -> None:
        self._connections += 1
        try:
            async with httpx.AsyncClient(timeout=ANSWER_SECONDS) as client:
                answer = await client.get(f"{self._server.url}/api/server")
                if answer.status_code != 200:
                    self._failed[f"{answer.status_code}"] += 1
        except httpx.HTTPError as error:
            self._failed[repr(error)] += 1

    def _compare(self, result: RoamerResult) -> tuple[int, int]:
        """Return how many acknowledged positions are not stored, and how many are so more than once."""
        first = round(self._load.first_epoch)
        rows = self._server.fetch_sql(
            "select unique_id, string_agg((extract(epoch from device_time)::bigint)::text, ',')"  # noqa: S608 - a number
            " from devices join positions on device_id = devices.id"
            f" where device_time < to_timestamp({first + DAY_SECONDS / 2}) group by unique_id"
        )
        stored = {row[0]: Counter(int(word) - first for word in row[1].split(",")) for row in rows}
        lost = twice = 0
        for phone, sent, unanswered in zip(self._load.phones, result.sent, result.unanswered, strict=True):
            own = stored.get(phone, Counter())
            acknowledged = set(range(sent)) - set(unanswered)
            lost += sum(not own[number] for number in acknowledged)
            twice += sum(own[number] > 1 for number in acknowledged)
        return lost, twice


def _after_discontinuities(playlist: str) -> set[int]:
    """Return the numbers of the segments that follow a discontinuity."""
    found, is_after = set(), False
    for line in playlist.splitlines():
        if line == "#EXT-X-DISCONTINUITY":
            is_after = True
        elif line.endswith(".ts"):
            if is_after:
                found.add(int(line.rpartition("/")[2][:-3]))
            is_after = False
    return found

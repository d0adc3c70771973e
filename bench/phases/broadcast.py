"""Simulated cameras at a server of the bench: started, stopped, and what their streams cost it."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec

from motorpool.bench.figures import Goal, Report
from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.options import BenchError
from motorpool.bench.phases import NAME
from motorpool.bench.server import Server

STARTS_PER_SECOND = 50.0
"""Streams do not start all at once, so that key frames are spread as on a real day."""
LOGIN_SECONDS = 60.0
"""Allowed for connecting and registering all terminals."""
FILM_SECONDS = 20.0
"""Allowed for the last camera to film or to stop once it was told to."""
ANSWER_SECONDS = 10.0
FULL = 0.9
"""Of a core: beyond it the senders, not the server, set the pace."""
LATE_MS = 250.0


class Span(msgspec.Struct, frozen=True):
    """What happened while the streams ran for some seconds."""

    cpu_ms: float
    """Of the server, for each second of each stream."""
    server_share: float
    """Of a core."""
    sent: CameraResult


class Broadcast:
    """The cameras of one film; those that film are the first `on_air` of `devices`."""

    def __init__(
        self, server: Server, client: httpx.Client, cameras: LoadProgram, devices: Sequence[int], film: Path
    ) -> None:
        self.server = server
        self.client = client
        self.devices = devices
        self.film = film
        """The loop that they send."""
        self.on_air = 0
        self._cameras = cameras

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Device and channel of each camera that films."""
        return tuple((device, 1) for device in self.devices[: self.on_air])

    def film_with(self, count: int) -> None:
        """Have so many cameras film: start the next ones, or stop the last.

        Raises:
            BenchError: the server refuses, or a camera does not obey in time.
        """
        kind = "videoStart" if count > self.on_air else "videoStop"
        chosen = self.devices[min(count, self.on_air) : max(count, self.on_air)]
        begun = time.perf_counter()

        def order(place: int) -> None:
            ahead = begun + place / STARTS_PER_SECOND - time.perf_counter()
            time.sleep(max(0.0, ahead))
            self.order(kind, chosen[place])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(order, range(len(chosen))))
        if chosen:
            self.on_air = count
            self.await_cameras()

    def order(self, kind: str, device: int) -> None:
        """Send a device a command about its first channel.

        Raises:
            BenchError: the server does not.
        """
        command = {"deviceId": device, "type": kind, "attributes": {"channel": 1}}
        answer = self.client.post("/commands/send", json=command)
        if answer.status_code != 200:
            raise BenchError(f"{kind} answered {answer.status_code}: {answer.text[:200]}")

    def await_cameras(self) -> None:
        """Wait until as many cameras film as shall.

        Raises:
            BenchError: they do not.
        """
        try:
            self._cameras.hear(Streaming, FILM_SECONDS, lambda told: told.cameras == self.on_air)
        except LoadFailed as error:
            raise BenchError(f"not {self.on_air} of {len(self.devices)} cameras film: {error}") from error

    def watch(self, seconds: float) -> Span:
        """Let the streams run so long and see what it costs."""
        self._pace()
        begun, cpu = time.perf_counter(), self.server.cpu_seconds()
        time.sleep(seconds)
        used, elapsed = self.server.cpu_seconds() - cpu, time.perf_counter() - begun
        return Span(used / elapsed / self.on_air * 1000, used / elapsed, self._pace())

    def _pace(self) -> CameraResult:
        self._cameras.say("pace")
        return self._cameras.hear(CameraResult, ANSWER_SECONDS)


@contextlib.contextmanager
def open_broadcast(server: Server, film: Path, prefix: str, count: int) -> Iterator[Broadcast]:
    """Log in so many terminals whose cameras have this film; their phones begin with `prefix`.

    Raises:
        LoadFailed: they do not get that far.
    """
    load = CameraLoad(
        host=server.host,
        port=server.jt808_port,
        phones=tuple(f"{prefix}{number:08d}" for number in range(1, count + 1)),
        film=str(film),
    )
    with run_program("cameras", load) as cameras, server.client() as client:
        cameras.hear(Mark, LOGIN_SECONDS)
        listed = client.get("/devices", params={"all": "true"}).json()
        ids = {device["uniqueId"]: device["id"] for device in listed}
        yield Broadcast(server, client, cameras, [ids[phone] for phone in load.phones], film)


def report_senders(report: Report, title: str, span: Span) -> None:
    """Say how busy both ends were, and where the cameras were not up to it."""
    sent = span.sent
    report.add(NAME, f"{title}: server at work", span.server_share, "cores")
    report.add(NAME, f"{title}: cameras at work", sent.cpu_share, "cores", goals=(Goal(FULL),))
    if sent.late_ms > LATE_MS:
        report.note(f"{NAME}, {title}: a camera was {sent.late_ms:.0f} ms late; the server could do more")
    if sent.stalled:
        report.note(f"{NAME}, {title}: {sent.stalled} units found their socket full: the server was too slow")

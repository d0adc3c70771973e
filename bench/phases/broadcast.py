"""Simulated cameras connected to a server of the bench, and the CPU that their streams cost."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec

from motorpool.bench.figures import Goal, Summary
from motorpool.bench.load.plan import CameraLoad, CameraResult, Mark, Streaming
from motorpool.bench.load.program import LoadFailed, LoadProgram, run_program
from motorpool.bench.options import BenchError
from motorpool.bench.phases import NAME
from motorpool.bench.server import Server

STARTS_PER_SECOND = 50.0
"""Starts of streams, spread so that key frames do not coincide."""
LOGIN_SECONDS = 60.0
"""Time for connecting and registering all terminals."""
FILM_SECONDS = 20.0
"""Time for the last camera to start or stop after its command."""
ANSWER_SECONDS = 10.0
FULL = 0.9
"""Share of a core above which the client, not the server, limits the measurement."""
LATE_MS = 250.0


class Measurement(msgspec.Struct, frozen=True):
    """Usage while the streams ran."""

    cpu_ms: float
    """CPU of the server for each second of each stream."""
    server_share: float
    """Share of a core."""
    sent: CameraResult


class CameraFleet:
    """Cameras that send one loop; the first `streaming` of `devices` are streaming."""

    def __init__(
        self,
        server: Server,
        client: httpx.Client,
        cameras: LoadProgram,
        devices: Sequence[int],
        loop_file: Path,
    ) -> None:
        self.server = server
        self.client = client
        self.devices = devices
        self.loop_file = loop_file
        """File with the loop that they send."""
        self.streaming = 0
        self._cameras = cameras

    @property
    def streams(self) -> tuple[tuple[int, int], ...]:
        """Device and channel of each camera that is streaming."""
        return tuple((device, 1) for device in self.devices[: self.streaming])

    def set_streaming_count(self, count: int) -> None:
        """Start or stop cameras so that `count` of them are streaming.

        Raises:
            BenchError: the server refuses a command, or a camera is too slow.
        """
        kind = "videoStart" if count > self.streaming else "videoStop"
        chosen = self.devices[min(count, self.streaming) : max(count, self.streaming)]
        begun = time.perf_counter()

        def order(place: int) -> None:
            ahead = begun + place / STARTS_PER_SECOND - time.perf_counter()
            time.sleep(max(0.0, ahead))
            self.order(kind, chosen[place])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(order, range(len(chosen))))
        if chosen:
            self.streaming = count
            self.await_cameras()

    def order(self, kind: str, device: int) -> None:
        """Send a command for the first channel of a device.

        Raises:
            BenchError: the server refuses it.
        """
        command = {"deviceId": device, "type": kind, "attributes": {"channel": 1}}
        answer = self.client.post("/commands/send", json=command)
        if answer.status_code != 200:
            raise BenchError(f"{kind} answered {answer.status_code}: {answer.text[:200]}")

    def await_cameras(self) -> None:
        """Wait until the expected number of cameras is streaming.

        Raises:
            BenchError: this takes too long.
        """
        try:
            self._cameras.wait_for(Streaming, FILM_SECONDS, lambda message: message.cameras == self.streaming)
        except LoadFailed as error:
            raise BenchError(
                f"not {self.streaming} of {len(self.devices)} cameras are streaming: {error}"
            ) from error

    def watch(self, seconds: float) -> Measurement:
        """Measure the server's usage while the streams run for `seconds`."""
        self._read_result()
        begun, cpu = time.perf_counter(), self.server.cpu_seconds()
        time.sleep(seconds)
        used, elapsed = self.server.cpu_seconds() - cpu, time.perf_counter() - begun
        return Measurement(used / elapsed / self.streaming * 1000, used / elapsed, self._read_result())

    def _read_result(self) -> CameraResult:
        self._cameras.send_line("pace")
        return self._cameras.wait_for(CameraResult, ANSWER_SECONDS)


@contextlib.contextmanager
def open_cameras(server: Server, loop_file: Path, prefix: str, count: int) -> Iterator[CameraFleet]:
    """Log in `count` terminals whose cameras send this loop; their phone numbers begin with `prefix`.

    Raises:
        LoadFailed: they could not log in.
    """
    load = CameraLoad(
        host=server.host,
        ports=(server.jt808_port,),
        phones=tuple(f"{prefix}{number:08d}" for number in range(1, count + 1)),
        loop_file=str(loop_file),
    )
    with run_program("cameras", load) as cameras, server.client() as client:
        cameras.wait_for(Mark, LOGIN_SECONDS)
        listed = client.get("/devices", params={"all": "true"}).json()
        ids = {device["uniqueId"]: device["id"] for device in listed}
        yield CameraFleet(server, client, cameras, [ids[phone] for phone in load.phones], loop_file)


def report_senders(summary: Summary, title: str, span: Measurement) -> None:
    """Report the usage of server and cameras, and note where the cameras were too slow."""
    sent = span.sent
    summary.add(NAME, f"{title}: server at work", span.server_share, "cores")
    summary.add(NAME, f"{title}: cameras at work", sent.cpu_share, "cores", goals=(Goal(FULL),))
    if sent.late_ms > LATE_MS:
        summary.note(f"{NAME}, {title}: a camera was {sent.late_ms:.0f} ms late; the server could do more")
    if sent.stalled:
        summary.note(
            f"{NAME}, {title}: {sent.stalled} units found their socket full: the server was too slow"
        )

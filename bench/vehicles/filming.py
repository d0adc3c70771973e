"""Media connections of a simulated vehicle: live pictures, and recordings played back
(docs/protocols/jt1078.md#packet).
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
import trio

from motorpool.bench.vehicles.camera import Film
from motorpool.bench.vehicles.route import Moment
from motorpool.bench.vehicles.studio import Studio
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.runtime.clock import Clock

CONNECT_SECONDS = 10.0
SEND_SECONDS = 15.0
"""A server that takes nothing for so long is gone."""
LATE_SECONDS = 1.0
"""A camera that is later than this leaves out pictures: true time goes before their number."""

_log = logging.getLogger(__name__)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """Who films, and what there is to see."""

    vehicle: str
    phone: str
    sim_bytes: int
    """6 or 10: how wide the phone stands in media packets."""
    film: Film
    moment_at: Callable[[datetime], Moment]


class Live:
    """A live transmission, and what the platform may do to it."""

    def __init__(self) -> None:
        self.paused = False


class Playback:
    """A recording that runs, and what the platform may do to it."""

    def __init__(self, start: datetime, end: datetime, speed: int = 1) -> None:
        self.position = start
        self.end = end
        self.speed = speed
        self.paused = False
        self.seeked = False
        """The position was moved: what follows does not go on from what was."""

    def advance(self, seconds: float) -> None:
        """Let so much of the recorded time pass."""
        self.position += timedelta(seconds=seconds)

    def seek(self, position: datetime) -> None:
        """Go on from there."""
        self.position = position
        self.seeked = True


async def film_live(
    host: str, port: int, channel: int, subject: Subject, studio: Studio, clock: Clock, live: Live
) -> None:
    """Connect and film what is to be seen now, until cancelled or the server hangs up."""
    sender = Jt1078Sender(subject.phone, subject.sim_bytes)
    interval = 1.0 / subject.film.frames_per_second
    async with await _connect(host, port) as stream:
        camera = await studio.open_camera(subject.vehicle, channel, subject.film)
        due = clock.monotonic()
        while True:
            await trio.sleep(max(0.0, due - clock.monotonic()))
            if not live.paused:
                instant = clock.now()
                units = await studio.film_moment(camera, subject.moment_at(instant), instant)
                await _send(stream, b"".join(map(sender.encode, units)))
            due += interval
            if clock.monotonic() - due > LATE_SECONDS:
                due = clock.monotonic()


async def film_playback(
    host: str, port: int, channel: int, subject: Subject, studio: Studio, clock: Clock, playback: Playback
) -> None:
    """Connect and send a recording at its own pace, then hang up: most terminals end a playback so."""
    sender = Jt1078Sender(subject.phone, subject.sim_bytes)
    interval = 1.0 / subject.film.frames_per_second
    # At another speed the sound would be of no use.
    film = subject.film if playback.speed == 1 else msgspec.structs.replace(subject.film, sound=None)
    async with await _connect(host, port) as stream:
        camera = await studio.open_camera(subject.vehicle, channel, film)
        due = clock.monotonic()
        while playback.position < playback.end:
            # From due to due: counted from the end of each picture the film would be slower than it was shot.
            due = max(due + interval, clock.monotonic() - LATE_SECONDS)
            if not playback.paused:
                if playback.seeked:
                    playback.seeked = False
                    camera = await studio.open_camera(subject.vehicle, channel, film)
                instant = playback.position
                units = await studio.film_moment(camera, subject.moment_at(instant), instant)
                await _send(stream, b"".join(map(sender.encode, units)))
                playback.advance(interval * playback.speed)
            await trio.sleep(max(0.0, due - clock.monotonic()))


async def _connect(host: str, port: int) -> trio.SocketStream:
    """Connect for media.

    Raises:
        OSError: the server is not there.
    """
    try:
        with trio.fail_after(CONNECT_SECONDS):
            return await trio.open_tcp_stream(host, port)
    except trio.TooSlowError:
        raise OSError(f"no connection to {host}:{port} within {CONNECT_SECONDS:g} s") from None


async def _send(stream: trio.SocketStream, content: bytes) -> None:
    try:
        with trio.fail_after(SEND_SECONDS):
            await stream.send_all(content)
    except trio.TooSlowError:
        raise trio.BrokenResourceError(f"the server takes nothing for {SEND_SECONDS:g} s") from None

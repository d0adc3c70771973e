"""Media connections of a simulated vehicle: live video, and playback of recordings
(docs/protocols/jt1078.md#packet).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
import trio

from motorpool.bench.vehicles.camera import VideoFormat
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.route import VehicleState
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.runtime.clock import Clock

CONNECT_SECONDS = 10.0
SEND_SECONDS = 15.0
"""A server that accepts no data for this time is considered lost."""
LATE_SECONDS = 1.0
"""A camera that is later than this skips pictures, so that its time stamps stay true."""


class MediaSource(msgspec.Struct, frozen=True, kw_only=True):
    """The vehicle whose video is sent."""

    vehicle: str
    phone: str
    sim_bytes: int
    """Width of the phone number in media packets, 6 or 10."""
    video: VideoFormat
    state_at: Callable[[datetime], VehicleState]


class LiveState:
    """State of a live transmission, as the platform controls it."""

    def __init__(self) -> None:
        self.paused = False


class PlaybackState:
    """State of a playback, as the platform controls it."""

    def __init__(self, start: datetime, end: datetime, speed: int = 1) -> None:
        self.position = start
        self.end = end
        self.speed = speed
        self.paused = False
        self.seeked = False
        """Whether the position was moved since the last picture."""

    def advance(self, seconds: float) -> None:
        """Move the position forward."""
        self.position += timedelta(seconds=seconds)

    def seek(self, position: datetime) -> None:
        """Continue from `position`."""
        self.position = position
        self.seeked = True


async def send_live(
    host: str,
    port: int,
    channel: int,
    source: MediaSource,
    encoding_thread: EncodingThread,
    clock: Clock,
    live: LiveState,
) -> None:
    """Connect and send live video until cancelled or the server closes the connection."""
    sender = Jt1078Sender(source.phone, source.sim_bytes)
    interval = 1.0 / source.video.frames_per_second
    async with await connect_for_media(host, port) as stream:
        camera = await encoding_thread.open_camera(source.vehicle, channel, source.video)
        due = clock.monotonic()
        while True:
            await trio.sleep(max(0.0, due - clock.monotonic()))
            if not live.paused:
                instant = clock.now()
                units = await encoding_thread.encode_frame(camera, source.state_at(instant), instant)
                await send_in_time(stream, b"".join(map(sender.encode, units)))
            due += interval
            if clock.monotonic() - due > LATE_SECONDS:
                due = clock.monotonic()


async def send_playback(
    host: str,
    port: int,
    channel: int,
    source: MediaSource,
    encoding_thread: EncodingThread,
    clock: Clock,
    playback: PlaybackState,
) -> None:
    """Connect, send a recording at its speed, and close the connection, as most terminals do at the end."""
    sender = Jt1078Sender(source.phone, source.sim_bytes)
    interval = 1.0 / source.video.frames_per_second
    # No sound at other speeds.
    video = source.video if playback.speed == 1 else msgspec.structs.replace(source.video, sound=None)
    async with await connect_for_media(host, port) as stream:
        camera = await encoding_thread.open_camera(source.vehicle, channel, video)
        due = clock.monotonic()
        while playback.position < playback.end:
            # Counted from the last due time: the time that encoding takes must not add up.
            due = max(due + interval, clock.monotonic() - LATE_SECONDS)
            if not playback.paused:
                if playback.seeked:
                    playback.seeked = False
                    camera = await encoding_thread.open_camera(source.vehicle, channel, video)
                instant = playback.position
                units = await encoding_thread.encode_frame(camera, source.state_at(instant), instant)
                await send_in_time(stream, b"".join(map(sender.encode, units)))
                playback.advance(interval * playback.speed)
            await trio.sleep(max(0.0, due - clock.monotonic()))


async def connect_for_media(host: str, port: int) -> trio.SocketStream:
    """Connect for media.

    Raises:
        OSError: the server cannot be reached.
    """
    try:
        with trio.fail_after(CONNECT_SECONDS):
            return await trio.open_tcp_stream(host, port)
    except trio.TooSlowError:
        raise OSError(f"no connection to {host}:{port} within {CONNECT_SECONDS:g} s") from None


async def send_in_time(stream: trio.SocketStream, content: bytes) -> None:
    """Send. Raises trio.BrokenResourceError where the server takes nothing for too long."""
    try:
        with trio.fail_after(SEND_SECONDS):
            await stream.send_all(content)
    except trio.TooSlowError:
        raise trio.BrokenResourceError(f"the server accepted no data for {SEND_SECONDS:g} s") from None

"""Media transmissions of a simulated vehicle, and the commands that control them."""

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import msgspec
import trio

from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.jt808.platform_messages import (
    LiveVideoControl,
    LiveVideoRequest,
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.bench.vehicles.media_sender import (
    LiveState,
    MediaSource,
    PlaybackState,
    send_live,
    send_playback,
)
from motorpool.bench.vehicles.recorded_files import RecordedFiles
from motorpool.bench.vehicles.talk import talk
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reports import Recording
from motorpool.runtime.clock import Clock

TALK = 2
"""Data type of 0x9101 for sound both ways."""
CLOSE_TALK = 4
"""Control of 0x9102 that ends it."""
DONE, FAILED, UNSUPPORTED = 0, 1, 3
"""Results of the general answer (0x0001)."""

_log = logging.getLogger(__name__)


class Transmission(msgspec.Struct, frozen=True):
    """A transmission that is running or being set up."""

    scope: trio.CancelScope
    state: LiveState | PlaybackState


class Transmissions:
    """At most one live transmission and one playback for each channel; the newest command wins."""

    def __init__(
        self, vehicle: Vehicle, encoding_thread: EncodingThread, clock: Clock, nursery: trio.Nursery
    ) -> None:
        plan = vehicle.plan
        self._channels = plan.channels
        self._files = RecordedFiles(plan.channels, timedelta(hours=plan.recorded_hours), vehicle.is_recording)
        self._encoding_thread = encoding_thread
        self._clock = clock
        self._nursery = nursery
        self._source = MediaSource(
            vehicle=plan.name,
            phone=plan.phone,
            sim_bytes=10 if plan.version == 2019 else 6,
            video=plan.video,
            state_at=vehicle.state_at,
        )
        self._cab = plan.cab
        self._talk = trio.CancelScope()
        self._live: dict[int, Transmission] = {}
        self._playbacks: dict[int, Transmission] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._playbacks)

    def stop_all(self) -> None:
        """Stop all transmissions."""
        self._talk.cancel()
        for transmission in (*self._live.values(), *self._playbacks.values()):
            transmission.scope.cancel()

    def start_live(self, request: LiveVideoRequest) -> int:
        """Execute 0x9101."""
        if not 1 <= request.channel <= self._channels:
            return FAILED
        if request.data_type == TALK:
            self._start_talk(request)
            return DONE
        live = LiveState()
        send = partial(send_live, request.host, request.tcp_port, request.channel, live=live)
        self._start(self._live, request.channel, live, send)
        return DONE

    def _start_talk(self, request: LiveVideoRequest) -> None:
        self._talk.cancel()
        self._talk = trio.CancelScope()
        self._nursery.start_soon(self._talk_until_cancelled, request, self._talk)

    async def _talk_until_cancelled(self, request: LiveVideoRequest, scope: trio.CancelScope) -> None:
        source = self._source
        try:
            with scope:
                await talk(request.host, request.tcp_port, request.channel, source, self._cab, self._clock)
        except* (OSError, trio.BrokenResourceError, CodecError) as errors:
            _log.debug("%s: talk ended: %s", source.vehicle, errors.exceptions[0])

    def control_live(self, request: LiveVideoControl) -> int:
        """Execute 0x9102."""
        if request.control == CLOSE_TALK:
            self._talk.cancel()
            return DONE
        found = self._live.get(request.channel)
        if found is None:
            # Closing what is not running succeeds.
            return DONE if request.control == 0 else FAILED
        assert isinstance(found.state, LiveState)
        match request.control:
            case 0:
                found.scope.cancel()
            case 2 | 3:
                found.state.paused = request.control == 2
            case _:
                return UNSUPPORTED
        return DONE

    def recordings(self, request: RecordingListQuery) -> list[Recording]:
        """Return the recordings that 0x9205 queries."""
        return self._files.overlapping(
            self._clock.now(), channel=request.channel, start=request.start_time, end=request.end_time
        )

    def start_playback(self, request: PlaybackRequest) -> list[Recording]:
        """Execute 0x9201 and return the recordings within the span, as the standard requires."""
        now = self._clock.now()
        span = self._files.playable(now, request.start_time, request.end_time)
        if span is None or not 1 <= request.channel <= self._channels:
            return []
        start, end = span
        playback = PlaybackState(start, end, _speed(request.speed) if request.method == 1 else 1)
        send = partial(send_playback, request.host, request.tcp_port, request.channel, playback=playback)
        self._start(self._playbacks, request.channel, playback, send)
        return self._files.overlapping(now, channel=request.channel, start=start, end=end)

    def control_playback(self, request: PlaybackControl) -> int:
        """Execute 0x9202."""
        found = self._playbacks.get(request.channel)
        if found is None:
            # Ending what has ended succeeds.
            return DONE if request.control == 2 else FAILED
        playback = found.state
        assert isinstance(playback, PlaybackState)
        match request.control:
            case 0:
                playback.paused, playback.speed = False, 1
            case 1:
                playback.paused = True
            case 2:
                found.scope.cancel()
            case 3:
                playback.speed = _speed(request.speed)
            case 5 if request.time is not None:
                playback.seek(request.time)
            case _:
                return UNSUPPORTED
        return DONE

    def _start(
        self,
        transmissions: dict[int, Transmission],
        channel: int,
        state: LiveState | PlaybackState,
        send: Callable[..., Awaitable[None]],
    ) -> None:
        if channel in transmissions:
            transmissions[channel].scope.cancel()
        transmission = Transmission(trio.CancelScope(), state)
        transmissions[channel] = transmission
        whole = partial(send, source=self._source, encoding_thread=self._encoding_thread, clock=self._clock)
        self._nursery.start_soon(self._transmit, transmissions, channel, transmission, whole)

    async def _transmit(
        self,
        transmissions: dict[int, Transmission],
        channel: int,
        transmission: Transmission,
        send: Callable[[], Awaitable[None]],
    ) -> None:
        try:
            with transmission.scope:
                await send()
        except (OSError, trio.BrokenResourceError) as error:
            _log.debug("%s: channel %d stopped: %s", self._source.vehicle, channel, error)
        finally:
            if transmissions.get(channel) is transmission:
                del transmissions[channel]


def _speed(code: int) -> int:
    """Return the playback speed: 1 for codes 0 and 1, 2 to 16 for codes 2 to 5."""
    return 1 << min(4, max(0, code - 1))

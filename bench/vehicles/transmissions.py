"""Media transmissions of a simulated vehicle, and the commands that control them."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import trio

from motorpool.bench.vehicles import recorded_files
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.media_sender import (
    LiveState,
    MediaSource,
    PlaybackState,
    send_live,
    send_playback,
)
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.platform_messages import (
    LiveVideoControl,
    LiveVideoRequest,
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
)
from motorpool.codecs.reports import Recording
from motorpool.runtime.clock import Clock

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
        self._live: dict[int, Transmission] = {}
        self._playbacks: dict[int, Transmission] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._playbacks)

    def stop_all(self) -> None:
        """Stop all transmissions."""
        for transmission in (*self._live.values(), *self._playbacks.values()):
            transmission.scope.cancel()

    def start_live(self, order: LiveVideoRequest) -> int:
        """Execute 0x9101."""
        if not 1 <= order.channel <= self._channels:
            return FAILED
        live = LiveState()
        film = partial(send_live, order.host, order.tcp_port, order.channel, live=live)
        self._start(self._live, order.channel, live, film)
        return DONE

    def control_live(self, order: LiveVideoControl) -> int:
        """Execute 0x9102."""
        found = self._live.get(order.channel)
        if found is None:
            # Closing what is not running succeeds.
            return DONE if order.control == 0 else FAILED
        assert isinstance(found.state, LiveState)
        match order.control:
            case 0:
                found.scope.cancel()
            case 2 | 3:
                found.state.paused = order.control == 2
            case _:
                return UNSUPPORTED
        return DONE

    def recordings(self, order: RecordingListQuery) -> list[Recording]:
        """Return the recordings that 0x9205 queries."""
        now = self._clock.now()
        return recorded_files.recordings(
            self._channels, now, channel=order.channel, start=order.start_time, end=order.end_time
        )

    def start_playback(self, order: PlaybackRequest) -> list[Recording]:
        """Execute 0x9201 and return the recordings within the span, as the standard requires."""
        now = self._clock.now()
        span = recorded_files.playable(now, order.start_time, order.end_time)
        if span is None or not 1 <= order.channel <= self._channels:
            return []
        start, end = span
        playback = PlaybackState(start, end, _speed(order.speed) if order.method == 1 else 1)
        film = partial(send_playback, order.host, order.tcp_port, order.channel, playback=playback)
        self._start(self._playbacks, order.channel, playback, film)
        return recorded_files.recordings(self._channels, now, channel=order.channel, start=start, end=end)

    def control_playback(self, order: PlaybackControl) -> int:
        """Execute 0x9202."""
        found = self._playbacks.get(order.channel)
        if found is None:
            return FAILED
        playback = found.state
        assert isinstance(playback, PlaybackState)
        match order.control:
            case 0:
                playback.paused, playback.speed = False, 1
            case 1:
                playback.paused = True
            case 2:
                found.scope.cancel()
            case 3:
                playback.speed = _speed(order.speed)
            case 5 if order.time is not None:
                playback.seek(order.time)
            case _:
                return UNSUPPORTED
        return DONE

    def _start(
        self,
        transmissions: dict[int, Transmission],
        channel: int,
        state: LiveState | PlaybackState,
        film: Callable[..., Awaitable[None]],
    ) -> None:
        if channel in transmissions:
            transmissions[channel].scope.cancel()
        transmission = Transmission(trio.CancelScope(), state)
        transmissions[channel] = transmission
        whole = partial(film, source=self._source, encoding_thread=self._encoding_thread, clock=self._clock)
        self._nursery.start_soon(self._transmit, transmissions, channel, transmission, whole)

    async def _transmit(
        self,
        transmissions: dict[int, Transmission],
        channel: int,
        transmission: Transmission,
        film: Callable[[], Awaitable[None]],
    ) -> None:
        try:
            with transmission.scope:
                await film()
        except (OSError, trio.BrokenResourceError) as error:
            _log.debug("%s: channel %d stopped: %s", self._source.vehicle, channel, error)
        finally:
            if transmissions.get(channel) is transmission:
                del transmissions[channel]


def _speed(code: int) -> int:
    """Return the playback speed: 1 for codes 0 and 1, 2 to 16 for codes 2 to 5."""
    return 1 << min(4, max(0, code - 1))

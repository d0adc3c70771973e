"""The media side of a simulated vehicle: which channels are on the air, and the orders about them."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import trio

from motorpool.bench.vehicles import archive
from motorpool.bench.vehicles.filming import Live, Playback, Subject, film_live, film_playback
from motorpool.bench.vehicles.studio import Studio
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


class OnAir(msgspec.Struct, frozen=True):
    """A transmission that runs or is being set up."""

    scope: trio.CancelScope
    state: Live | Playback


class Transmissions:
    """At most one live and one playback a channel; the newest order wins."""

    def __init__(self, vehicle: Vehicle, studio: Studio, clock: Clock, nursery: trio.Nursery) -> None:
        plan = vehicle.plan
        self._channels = plan.channels
        self._studio = studio
        self._clock = clock
        self._nursery = nursery
        self._subject = Subject(
            vehicle=plan.name,
            phone=plan.phone,
            sim_bytes=10 if plan.version == 2019 else 6,
            film=plan.film,
            moment_at=vehicle.moment_at,
        )
        self._lives: dict[int, OnAir] = {}
        self._playbacks: dict[int, OnAir] = {}

    def __len__(self) -> int:
        return len(self._lives) + len(self._playbacks)

    def end_all(self) -> None:
        """Hang up everywhere."""
        for transmission in (*self._lives.values(), *self._playbacks.values()):
            transmission.scope.cancel()

    def start_live(self, order: LiveVideoRequest) -> int:
        """Carry out 0x9101."""
        if not 1 <= order.channel <= self._channels:
            return FAILED
        live = Live()
        film = partial(film_live, order.host, order.tcp_port, order.channel, live=live)
        self._start(self._lives, order.channel, live, film)
        return DONE

    def control_live(self, order: LiveVideoControl) -> int:
        """Carry out 0x9102."""
        found = self._lives.get(order.channel)
        if found is None:
            # What does not run is closed already.
            return DONE if order.control == 0 else FAILED
        assert isinstance(found.state, Live)
        match order.control:
            case 0:
                found.scope.cancel()
            case 2 | 3:
                found.state.paused = order.control == 2
            case _:
                return UNSUPPORTED
        return DONE

    def recordings(self, order: RecordingListQuery) -> list[Recording]:
        """Find what 0x9205 asks for."""
        now = self._clock.now()
        return archive.recordings(
            self._channels, now, channel=order.channel, start=order.start_time, end=order.end_time
        )

    def start_playback(self, order: PlaybackRequest) -> list[Recording]:
        """Carry out 0x9201, and answer with the recordings that the span touches, as the standard has it."""
        now = self._clock.now()
        span = archive.playable(now, order.start_time, order.end_time)
        if span is None or not 1 <= order.channel <= self._channels:
            return []
        start, end = span
        playback = Playback(start, end, _speed(order.speed) if order.method == 1 else 1)
        film = partial(film_playback, order.host, order.tcp_port, order.channel, playback=playback)
        self._start(self._playbacks, order.channel, playback, film)
        return archive.recordings(self._channels, now, channel=order.channel, start=start, end=end)

    def control_playback(self, order: PlaybackControl) -> int:
        """Carry out 0x9202."""
        found = self._playbacks.get(order.channel)
        if found is None:
            return FAILED
        playback = found.state
        assert isinstance(playback, Playback)
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
        on_air: dict[int, OnAir],
        channel: int,
        state: Live | Playback,
        film: Callable[..., Awaitable[None]],
    ) -> None:
        if channel in on_air:
            on_air[channel].scope.cancel()
        transmission = OnAir(trio.CancelScope(), state)
        on_air[channel] = transmission
        whole = partial(film, subject=self._subject, studio=self._studio, clock=self._clock)
        self._nursery.start_soon(self._transmit, on_air, channel, transmission, whole)

    async def _transmit(
        self, on_air: dict[int, OnAir], channel: int, transmission: OnAir, film: Callable[[], Awaitable[None]]
    ) -> None:
        try:
            with transmission.scope:
                await film()
        except (OSError, trio.BrokenResourceError) as error:
            _log.debug("%s: channel %d went off the air: %s", self._subject.vehicle, channel, error)
        finally:
            if on_air.get(channel) is transmission:
                del on_air[channel]


def _speed(code: int) -> int:
    """How many times as fast: 0 and 1 are as filmed, 2 to 5 twice to sixteen times."""
    return 1 << min(4, max(0, code - 1))

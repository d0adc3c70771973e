"""What a simulated vehicle does when the platform tells it to (docs/protocols/jt808.md#commands)."""

import logging
from collections.abc import Awaitable, Callable

import trio

from motorpool.bench.vehicles.alarms import Alarms
from motorpool.bench.vehicles.studio import Studio
from motorpool.bench.vehicles.transmissions import DONE, FAILED, UNSUPPORTED, Transmissions
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.parameters import HEARTBEAT_SECONDS, REPORT_SECONDS
from motorpool.codecs.devices.jt808.platform_messages import (
    AttachmentRequest,
    LiveVideoControl,
    LiveVideoRequest,
    PhotoRequest,
    PlatformMessage,
    PlaybackControl,
    PlaybackRequest,
    RecordingListQuery,
    SetParameters,
    TemporaryTracking,
    TerminalControl,
    TextMessage,
)
from motorpool.codecs.devices.jt808.terminal import Terminal
from motorpool.codecs.errors import CodecError
from motorpool.runtime.clock import Clock

Send = Callable[[bytes], Awaitable[None]]

RESTART_SECONDS = 3.0
"""A terminal needs to come back after a reset."""
OFF_SECONDS = 60.0
"""And after its power was switched off: somebody turns the key."""
MOST_PHOTOS = 10
PHOTO_PACKET_BYTES = 800
NO_CHANNEL = 2
"""Result of the answer to an order for photos (0x0805)."""
PLATE_PARAMETER = 0x83

_log = logging.getLogger(__name__)


class Reconnect(Exception):
    """The platform ordered a restart: the line is dropped, and taken up again after a pause."""

    def __init__(self, pause_seconds: float) -> None:
        super().__init__(f"back in {pause_seconds:g} s")
        self.pause_seconds = pause_seconds


class Obedience:
    """Carries out orders for one vehicle; transmissions outlive a lost line."""

    def __init__(self, vehicle: Vehicle, studio: Studio, clock: Clock, nursery: trio.Nursery) -> None:
        self.transmissions = Transmissions(vehicle, studio, clock, nursery)
        self.alarms = Alarms(vehicle, studio)
        self._nursery = nursery
        self._vehicle = vehicle
        self._studio = studio
        self._clock = clock
        self._usual_seconds = vehicle.plan.interval_seconds
        self._followed_seconds = 0.0
        self._followed_until = 0.0
        self._photos = 0

    @property
    def interval_seconds(self) -> float:
        """Between positions, as the platform wants it now."""
        if self._followed_seconds and self._clock.monotonic() < self._followed_until:
            return self._followed_seconds
        return self._usual_seconds

    async def obey(self, message: PlatformMessage, terminal: Terminal, send: Send) -> None:
        """Carry out an order and answer it.

        Raises:
            Reconnect: the order was to restart.
        """
        on_air = self.transmissions
        match message:
            case LiveVideoRequest():
                await send(terminal.general_response(message, on_air.start_live(message)))
            case LiveVideoControl():
                await send(terminal.general_response(message, on_air.control_live(message)))
            case RecordingListQuery():
                await send(terminal.recordings(message.serial, on_air.recordings(message)))
            case PlaybackRequest():
                await send(terminal.recordings(message.serial, on_air.start_playback(message)))
            case PlaybackControl():
                await send(terminal.general_response(message, on_air.control_playback(message)))
            case TerminalControl():
                await self._control(message, terminal, send)
            case SetParameters(parameters=parameters):
                seconds = parameters.get("reportSeconds")
                if isinstance(seconds, int) and seconds > 0:
                    self._usual_seconds = float(seconds)
                await send(terminal.general_response(message))
            case TemporaryTracking(interval_seconds=interval, duration_seconds=duration):
                self._followed_seconds = float(interval)
                self._followed_until = self._clock.monotonic() + duration
                await send(terminal.general_response(message))
            case TextMessage(text=text):
                _log.info("%s: the driver reads: %s", self._vehicle.plan.name, text)
                await send(terminal.general_response(message))
            case PhotoRequest():
                await self._take_photos(message, terminal, send)
            case AttachmentRequest():
                await send(terminal.general_response(message, DONE if self.alarms.knows(message) else FAILED))
                if self.alarms.knows(message):
                    self._nursery.start_soon(self._upload, message)
            case _:
                await send(self._answer_query(message, terminal))

    async def _upload(self, asked: AttachmentRequest) -> None:
        try:
            await self.alarms.upload(asked)
        except (OSError, trio.BrokenResourceError, trio.TooSlowError, CodecError) as error:
            _log.debug("%s: the files of an alarm were not taken: %s", self._vehicle.plan.name, error)

    def _answer_query(self, message: PlatformMessage, terminal: Terminal) -> bytes:
        plan = self._vehicle.plan
        match message.message_id:
            case 0x8201:
                return terminal.position_response(message, self._vehicle.location(self._clock.now()))
            case 0x8104 | 0x8106:
                seconds = round(self.interval_seconds)
                values: dict[int, int | str | bytes] = {
                    HEARTBEAT_SECONDS: 60,
                    REPORT_SECONDS: seconds,
                    PLATE_PARAMETER: plan.plate,
                }
                return terminal.parameters(message, values)
            case 0x8107:
                return terminal.attributes(iccid=f"8949{plan.phone}")
            case 0x9003:
                # AAC mono of 16 bits, H.264, at most one sound and this many picture channels.
                return terminal.media_capabilities(
                    bytes.fromhex("130100010400016201") + bytes((plan.channels,))
                )
            case 0x8500:
                self._vehicle.locked = message.body[-1:] == b"\x01"
                location = self._vehicle.location(self._clock.now())
                return terminal.message(0x0500, message.serial.to_bytes(2, "big") + location)
            case _:
                return terminal.general_response(message, UNSUPPORTED)

    async def _control(self, message: TerminalControl, terminal: Terminal, send: Send) -> None:
        """Carry out 0x8105; cutting the fuel is not in the standard, but terminals have it."""
        pause: float | None = None
        match message.command:
            case 3:
                pause = OFF_SECONDS
            case 4:
                pause = RESTART_SECONDS
            case 5:
                self._usual_seconds = self._vehicle.plan.interval_seconds
                pause = RESTART_SECONDS
            case 0x64:
                self._vehicle.halt(self._clock.now())
            case 0x65:
                self._vehicle.drive_on(self._clock.now())
            case _:
                await send(terminal.general_response(message, UNSUPPORTED))
                return
        await send(terminal.general_response(message))
        if pause is not None:
            self.transmissions.end_all()
            raise Reconnect(pause)

    async def _take_photos(self, message: PhotoRequest, terminal: Terminal, send: Send) -> None:
        plan = self._vehicle.plan
        if not 1 <= message.channel <= plan.channels:
            await send(terminal.shoot_response(message, (), NO_CHANNEL))
            return
        # 0 stops and 0xFFFF films; a picture is all that this camera has to offer for either.
        count = message.count if message.count <= MOST_PHOTOS else 1
        ids = [self._photos + number for number in range(1, count + 1)]
        self._photos += count
        await send(terminal.shoot_response(message, ids))
        for media_id in ids:
            now = self._clock.now()
            moment = self._vehicle.moment_at(now)
            photo = await self._studio.photograph(plan.name, message.channel, moment, now)
            location = self._vehicle.location(now)
            await send(
                terminal.photo(
                    media_id, photo, location, channel=message.channel, packet_bytes=PHOTO_PACKET_BYTES
                )
            )

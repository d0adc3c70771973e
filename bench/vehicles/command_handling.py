"""How a simulated vehicle executes commands of the platform (docs/protocols/jt808.md#commands)."""

import logging
from collections.abc import Awaitable, Callable

import trio

from motorpool.bench.vehicles.alarms import Alarms
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.jt808.platform_messages import (
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
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.transmissions import DONE, FAILED, UNSUPPORTED, Transmissions
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.parameters import HEARTBEAT_SECONDS, REPORT_SECONDS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.jt1078.sender import PAYLOAD_TYPES
from motorpool.runtime.clock import Clock

Send = Callable[[bytes], Awaitable[None]]

RESTART_SECONDS = 3.0
"""Time that a terminal is away after a reset."""
OFF_SECONDS = 60.0
"""Time that it is away after its power was switched off."""
MAX_PHOTOS = 10
PHOTO_PACKET_BYTES = 800
NO_CHANNEL = 2
"""Result of the answer to a photo command (0x0805)."""
PLATE_PARAMETER = 0x83

_log = logging.getLogger(__name__)


class ReconnectRequested(Exception):
    """The platform ordered a restart: disconnect, and reconnect after a pause."""

    def __init__(self, pause_seconds: float) -> None:
        super().__init__(f"reconnect in {pause_seconds:g} s")
        self.pause_seconds = pause_seconds


class CommandHandler:
    """Executes commands for one vehicle; transmissions survive a lost connection."""

    def __init__(
        self, vehicle: Vehicle, encoding_thread: EncodingThread, clock: Clock, nursery: trio.Nursery
    ) -> None:
        self.transmissions = Transmissions(vehicle, encoding_thread, clock, nursery)
        self.alarms = Alarms(vehicle, encoding_thread)
        self._nursery = nursery
        self._vehicle = vehicle
        self._encoding_thread = encoding_thread
        self._clock = clock
        self._usual_seconds = vehicle.plan.interval_seconds
        self._followed_seconds = 0.0
        self._followed_until = 0.0
        self._photos = 0

    @property
    def interval_seconds(self) -> float:
        """Seconds between positions, as the platform set them."""
        if self._followed_seconds and self._clock.monotonic() < self._followed_until:
            return self._followed_seconds
        return self._usual_seconds

    async def handle(self, message: PlatformMessage, terminal: Terminal, send: Send) -> None:
        """Execute a command and answer it.

        Raises:
            ReconnectRequested: the command was a restart.
        """
        transmissions = self.transmissions
        match message:
            case LiveVideoRequest():
                await send(terminal.general_response(message, transmissions.start_live(message)))
            case LiveVideoControl():
                await send(terminal.general_response(message, transmissions.control_live(message)))
            case RecordingListQuery():
                await send(terminal.recordings(message.serial, transmissions.recordings(message)))
            case PlaybackRequest():
                await send(terminal.recordings(message.serial, transmissions.start_playback(message)))
            case PlaybackControl():
                await send(terminal.general_response(message, transmissions.control_playback(message)))
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
                _log.info("%s: text for the driver: %s", self._vehicle.plan.name, text)
                await send(terminal.general_response(message))
            case PhotoRequest():
                await self._take_photos(message, terminal, send)
            case AttachmentRequest():
                await send(
                    terminal.general_response(message, DONE if self.alarms.has_files(message) else FAILED)
                )
                if self.alarms.has_files(message):
                    self._nursery.start_soon(self._upload, message)
            case _:
                await send(self._answer_query(message, terminal))

    async def _upload(self, request: AttachmentRequest) -> None:
        try:
            await self.alarms.upload(request)
        except (OSError, trio.BrokenResourceError, trio.TooSlowError, CodecError) as error:
            _log.debug("%s: upload of alarm files failed: %s", self._vehicle.plan.name, error)

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
                # Mono of 8 kHz and 16 bits in frames of 40 ms, H.264, at most one audio channel and this many
                # video channels.
                coding = PAYLOAD_TYPES[plan.cab.coding]
                return terminal.media_capabilities(bytes((coding, 1, 0, 1, 1, 0x40, 1, 98, 1, plan.channels)))
            case 0x8500:
                self._vehicle.locked = message.body[-1:] == b"\x01"
                location = self._vehicle.location(self._clock.now())
                return terminal.message(0x0500, message.serial.to_bytes(2, "big") + location)
            case _:
                return terminal.general_response(message, UNSUPPORTED)

    async def _control(self, message: TerminalControl, terminal: Terminal, send: Send) -> None:
        """Execute 0x8105; cutting off the fuel is not in the standard but common."""
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
                self._vehicle.stop_engine(self._clock.now())
            case 0x65:
                self._vehicle.resume_engine(self._clock.now())
            case _:
                await send(terminal.general_response(message, UNSUPPORTED))
                return
        await send(terminal.general_response(message))
        if pause is not None:
            self.transmissions.stop_all()
            raise ReconnectRequested(pause)

    async def _take_photos(self, message: PhotoRequest, terminal: Terminal, send: Send) -> None:
        plan = self._vehicle.plan
        if not 1 <= message.channel <= plan.channels:
            await send(terminal.shoot_response(message, (), NO_CHANNEL))
            return
        # 0 stops and 0xFFFF records video; this camera takes one photo for either.
        count = message.count if message.count <= MAX_PHOTOS else 1
        ids = [self._photos + number for number in range(1, count + 1)]
        self._photos += count
        await send(terminal.shoot_response(message, ids))
        for media_id in ids:
            now = self._clock.now()
            moment = self._vehicle.state_at(now)
            photo = await self._encoding_thread.take_photo(
                plan.name, message.channel, moment, now, squares=plan.video.squares
            )
            location = self._vehicle.location(now)
            await send(
                terminal.photo(
                    media_id, photo, location, channel=message.channel, packet_bytes=PHOTO_PACKET_BYTES
                )
            )

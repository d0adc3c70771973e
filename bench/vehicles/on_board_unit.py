"""The terminal of a simulated vehicle: connects, reports, handles commands, and reconnects."""

import logging
import random
from collections.abc import Iterator
from datetime import datetime, timedelta

import trio

from motorpool.bench.target import Target
from motorpool.bench.vehicles.archive import Archive
from motorpool.bench.vehicles.command_handling import CommandHandler, ReconnectRequested
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    MediaUploadResponse,
    PlatformMessage,
    RegistrationResponse,
    ResendRequest,
    TimeResponse,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal
from motorpool.bench.vehicles.media_sender import CONNECT_SECONDS, SEND_SECONDS
from motorpool.bench.vehicles.position_buffer import PositionBuffer
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, BATCH, LOCATION
from motorpool.codecs.errors import CodecError
from motorpool.runtime.clock import Clock

FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 30.0
LOGIN_SECONDS = 20.0
HEARTBEAT_SECONDS = 60.0
PARKED_SECONDS = 60.0
"""Between positions while a roster has the engine off, as long as this is longer than the usual time."""
ARCHIVE_SECONDS, ARCHIVE_PARKED_SECONDS = 10.0, 300.0
"""Between the positions of the time before the simulation: with the engine on and off."""
SILENCE_SECONDS = 200.0
"""After this time without an answer, not even to heartbeats, the connection is considered lost."""

_LINE_ERRORS = (OSError, trio.TooSlowError, trio.BrokenResourceError, trio.ClosedResourceError, CodecError)

_log = logging.getLogger(__name__)


class _ArchiveSent(Exception):
    """All positions of an archive with an end are acknowledged."""


class OnBoardUnit:
    """One vehicle's terminal."""

    def __init__(
        self,
        vehicle: Vehicle,
        target: Target,
        encoding_thread: EncodingThread,
        clock: Clock,
        archive: Archive | None = None,
    ) -> None:
        self.vehicle = vehicle
        self._archive = archive
        self.position_buffer = PositionBuffer()
        self.is_logged_in = False
        """Whether the terminal is connected and authenticated."""
        self._target = target
        self._encoding_thread = encoding_thread
        self._clock = clock
        self._terminal = Terminal(vehicle.plan.phone, vehicle.plan.version)
        self._stream: trio.SocketStream | None = None
        self._sending = trio.Lock()
        self._random = random.Random(vehicle.plan.seed)

    async def run(self) -> None:
        """Drive and report until cancelled, or until an archive with an end is sent."""
        archive = self._archive
        if archive is not None and archive.until is not None and archive.until <= archive.since:
            return
        async with trio.open_nursery() as nursery:
            handler = CommandHandler(self.vehicle, self._encoding_thread, self._clock, nursery)
            if archive is not None:
                until = archive.until or self._clock.now()
                self.position_buffer = PositionBuffer(self._locations(archive.since, until, handler))
            if archive is None or archive.until is None:
                nursery.start_soon(self._report_positions, handler)
            nursery.start_soon(self._send_heartbeats)
            pause = FIRST_PAUSE_SECONDS
            while True:
                ordered: float | None = None
                try:
                    await self._run_connection(handler)
                except _ArchiveSent:
                    break
                except ReconnectRequested as order:
                    ordered = order.pause_seconds
                except _LINE_ERRORS as error:
                    _log.debug("%s: connection lost: %s", self.vehicle.plan.name, error)
                if self.is_logged_in:
                    pause = FIRST_PAUSE_SECONDS
                self.is_logged_in = False
                self._stream = None
                self.position_buffer.requeue_unacknowledged()
                # Not all vehicles at the same moment.
                await trio.sleep(ordered or pause * self._random.uniform(0.5, 1.0))
                pause = min(2 * pause, MAX_PAUSE_SECONDS)
            nursery.cancel_scope.cancel()

    async def _run_connection(self, handler: CommandHandler) -> None:
        """Connect, log in and handle messages; always ends with an exception."""
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(self._target.host, self._target.port(Jt808.port))
        async with stream:
            self._stream = stream
            # An incomplete frame of the last connection must not precede the first one of this.
            code, serial = self._terminal.code, self._terminal.serial
            self._terminal = Terminal(self.vehicle.plan.phone, self.vehicle.plan.version)
            self._terminal.code, self._terminal.serial = code, serial
            await self._send(self._login_message())
            with trio.fail_after(LOGIN_SECONDS) as patience:
                while content := await stream.receive_some(65536):
                    for message in self._terminal.receive(content):
                        await self._handle_message(message, handler)
                    if self.is_logged_in:
                        patience.deadline = trio.current_time() + SILENCE_SECONDS
        raise trio.BrokenResourceError("the platform closed the connection")

    def _login_message(self) -> bytes:
        """Authenticate with the code of an earlier login, or register."""
        if self._terminal.code:
            return self._terminal.authenticate(imei=self.vehicle.plan.phone, version="SIM 1.0")
        return self._terminal.register(
            plate=self.vehicle.plan.plate, terminal_id=self.vehicle.plan.phone[-7:]
        )

    async def _handle_message(self, message: PlatformMessage, handler: CommandHandler) -> None:
        match message:
            case RegistrationResponse(result=0, code=code):
                self._terminal.code = code
                await self._send(self._login_message())
            case RegistrationResponse(result=result):
                raise trio.BrokenResourceError(f"the platform refuses this terminal (result {result})")
            case GeneralResponse(answered_id=answered_id, answered_serial=serial, result=result):
                await self._acknowledged(answered_id, serial, result)
            case ResendRequest():
                await self._send(self._terminal.resend(message))
            case MediaUploadResponse() | TimeResponse():
                pass
            case _:
                await handler.handle(message, self._terminal, self._send)

    async def _acknowledged(self, answered_id: int, serial: int, result: int) -> None:
        if answered_id in (LOCATION, BATCH) and result in (0, 4):
            self.position_buffer.acknowledge(serial)
            await self._send_buffered()
        elif answered_id == AUTHENTICATE:
            if result != 0:
                self._terminal.code = ""
                raise trio.BrokenResourceError("the platform no longer accepts the authentication code")
            self.is_logged_in = True
            _log.debug("%s: online", self.vehicle.plan.name)
            await self._send_buffered()

    async def _send_buffered(self) -> None:
        """Send buffered positions, one batch for each acknowledgement."""
        if batch := self.position_buffer.take_batch():
            self.position_buffer.mark_sent(self._terminal.serial, batch)
            await self._send(self._terminal.batch(batch))
        elif self._archive is not None and self._archive.until is not None:
            raise _ArchiveSent

    async def _report_positions(self, handler: CommandHandler) -> None:
        """Report the position periodically; buffer it while disconnected."""
        # Vehicles that start together do not report together.
        await trio.sleep(handler.interval_seconds * self._random.random())
        while True:
            now = self._clock.now()
            location = self._location(now, handler)
            # Positions of the archive must not be overtaken: what comes late makes no trips and events.
            if self.is_logged_in and not self.position_buffer.has_archive:
                self.position_buffer.mark_sent(self._terminal.serial, [location])
                await self._try_to_send(self._terminal.location(location))
            else:
                self.position_buffer.add(location)
            pause = handler.interval_seconds
            if self.vehicle.roster is not None and not self.vehicle.is_engine_running(now):
                pause = max(pause, PARKED_SECONDS)
            await trio.sleep(pause)

    def _location(self, instant: datetime, handler: CommandHandler) -> bytes:
        due = handler.alarms.take_due(instant)
        return self.vehicle.location(instant, due.items, due.bits)

    def _locations(self, since: datetime, until: datetime, handler: CommandHandler) -> Iterator[bytes]:
        """Yield the positions of a span, oldest first."""
        instant, roster = since, self.vehicle.roster
        while instant < until:
            yield self._location(instant, handler)
            pause = ARCHIVE_SECONDS
            if roster is not None and (rest := roster.starts_in(self.vehicle.seconds_at(instant))) > 0:
                pause = min(rest + 1, ARCHIVE_PARKED_SECONDS)
            instant += timedelta(seconds=pause)

    async def _send_heartbeats(self) -> None:
        while True:
            await trio.sleep(HEARTBEAT_SECONDS)
            if self.is_logged_in:
                await self._try_to_send(self._terminal.heartbeat())

    async def _try_to_send(self, content: bytes) -> None:
        """Send; a broken line is the listener's business, who hears of it as well."""
        try:
            await self._send(content)
        except _LINE_ERRORS as error:
            _log.debug("%s: not sent: %s", self.vehicle.plan.name, error)

    async def _send(self, content: bytes) -> None:
        stream = self._stream
        if stream is None:
            raise trio.ClosedResourceError("no line")
        async with self._sending:
            with trio.move_on_after(SEND_SECONDS) as patience:
                await stream.send_all(content)
        if patience.cancelled_caught:
            # Half a frame may be out: this connection cannot be used any longer.
            await trio.aclose_forcefully(stream)
            raise trio.BrokenResourceError(f"the platform takes nothing for {SEND_SECONDS:g} s")

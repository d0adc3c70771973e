"""The terminal in a simulated vehicle: connects, reports, obeys, and comes back when the line breaks."""

import logging
import random

import trio

from motorpool.bench.target import Target
from motorpool.bench.vehicles.command_handling import Obedience, Reconnect
from motorpool.bench.vehicles.filming import CONNECT_SECONDS, SEND_SECONDS
from motorpool.bench.vehicles.logbook import Logbook
from motorpool.bench.vehicles.studio import Studio
from motorpool.bench.vehicles.vehicle import Vehicle
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.devices.jt808.platform_messages import (
    GeneralResponse,
    MediaUploadResponse,
    PlatformMessage,
    RegistrationResponse,
    ResendRequest,
    TimeResponse,
)
from motorpool.codecs.devices.jt808.terminal import Terminal
from motorpool.codecs.devices.jt808.terminal_messages import AUTHENTICATE, BATCH, LOCATION
from motorpool.codecs.errors import CodecError
from motorpool.runtime.clock import Clock

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
LOGIN_SECONDS = 20.0
HEARTBEAT_SECONDS = 60.0
SILENCE_SECONDS = 200.0
"""A platform that does not even answer heartbeats for so long is gone."""

_LINE_ERRORS = (OSError, trio.TooSlowError, trio.BrokenResourceError, trio.ClosedResourceError, CodecError)

_log = logging.getLogger(__name__)


class OnBoardUnit:
    """One vehicle's terminal."""

    def __init__(self, vehicle: Vehicle, target: Target, studio: Studio, clock: Clock) -> None:
        self.vehicle = vehicle
        self.logbook = Logbook()
        self.is_accepted = False
        """The platform has let this terminal in, and the line stands."""
        self._target = target
        self._studio = studio
        self._clock = clock
        self._terminal = Terminal(vehicle.plan.phone, vehicle.plan.version)
        self._stream: trio.SocketStream | None = None
        self._sending = trio.Lock()
        self._chance = random.Random(vehicle.plan.seed)

    async def run(self) -> None:
        """Drive and report for ever."""
        async with trio.open_nursery() as nursery:
            obedience = Obedience(self.vehicle, self._studio, self._clock, nursery)
            nursery.start_soon(self._report, obedience)
            nursery.start_soon(self._beat)
            pause = FIRST_PAUSE_SECONDS
            while True:
                ordered: float | None = None
                try:
                    await self._hold_line(obedience)
                except Reconnect as order:
                    ordered = order.pause_seconds
                except _LINE_ERRORS as error:
                    _log.debug("%s: the line broke: %s", self.vehicle.plan.name, error)
                if self.is_accepted:
                    pause = FIRST_PAUSE_SECONDS
                self.is_accepted = False
                self._stream = None
                self.logbook.line_lost()
                # Not all vehicles at the same moment.
                await trio.sleep(ordered or pause * self._chance.uniform(0.5, 1.0))
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _hold_line(self, obedience: Obedience) -> None:
        """Connect, log in and listen; ends with an error in any case."""
        with trio.fail_after(CONNECT_SECONDS):
            stream = await trio.open_tcp_stream(self._target.host, self._target.port(Jt808.port))
        async with stream:
            self._stream = stream
            # Half a frame of the line before must not stand before the first one of this.
            code, serial = self._terminal.code, self._terminal.serial
            self._terminal = Terminal(self.vehicle.plan.phone, self.vehicle.plan.version)
            self._terminal.code, self._terminal.serial = code, serial
            await self._send(self._greeting())
            with trio.fail_after(LOGIN_SECONDS) as patience:
                while content := await stream.receive_some(65536):
                    for message in self._terminal.receive(content):
                        await self._hear(message, obedience)
                    if self.is_accepted:
                        patience.deadline = trio.current_time() + SILENCE_SECONDS
        raise trio.BrokenResourceError("the platform hung up")

    def _greeting(self) -> bytes:
        """Authenticate with the code of an earlier login, else register."""
        if self._terminal.code:
            return self._terminal.authenticate(imei=self.vehicle.plan.phone, version="SIM 1.0")
        return self._terminal.register(
            plate=self.vehicle.plan.plate, terminal_id=self.vehicle.plan.phone[-7:]
        )

    async def _hear(self, message: PlatformMessage, obedience: Obedience) -> None:
        match message:
            case RegistrationResponse(result=0, code=code):
                self._terminal.code = code
                await self._send(self._greeting())
            case RegistrationResponse(result=result):
                raise trio.BrokenResourceError(f"the platform does not want this terminal (result {result})")
            case GeneralResponse(answered_id=answered_id, answered_serial=serial, result=result):
                await self._acknowledged(answered_id, serial, result)
            case ResendRequest():
                await self._send(self._terminal.resend(message))
            case MediaUploadResponse() | TimeResponse():
                pass
            case _:
                await obedience.obey(message, self._terminal, self._send)

    async def _acknowledged(self, answered_id: int, serial: int, result: int) -> None:
        if answered_id in (LOCATION, BATCH) and result in (0, 4):
            self.logbook.acknowledged(serial)
            await self._catch_up()
        elif answered_id == AUTHENTICATE:
            if result != 0:
                self._terminal.code = ""
                raise trio.BrokenResourceError("the platform does not know the code any more")
            self.is_accepted = True
            _log.debug("%s: on line", self.vehicle.plan.name)
            await self._catch_up()

    async def _catch_up(self) -> None:
        """Send what was reported while the line was down, a batch for every acknowledgement."""
        if batch := self.logbook.take_batch():
            self.logbook.sent(self._terminal.serial, batch)
            await self._send(self._terminal.batch(batch))

    async def _report(self, obedience: Obedience) -> None:
        """Tell the position, again and again; without a line it is kept."""
        # Vehicles that start together do not report together.
        await trio.sleep(obedience.interval_seconds * self._chance.random())
        while True:
            now = self._clock.now()
            location = self.vehicle.location(now, obedience.alarms.raised_at(now))
            if self.is_accepted:
                self.logbook.sent(self._terminal.serial, [location])
                await self._try_to_send(self._terminal.location(location))
            else:
                self.logbook.keep(location)
            await trio.sleep(obedience.interval_seconds)

    async def _beat(self) -> None:
        while True:
            await trio.sleep(HEARTBEAT_SECONDS)
            if self.is_accepted:
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
            # Half a frame may be out: this line is of no more use.
            await trio.aclose_forcefully(stream)
            raise trio.BrokenResourceError(f"the platform takes nothing for {SEND_SECONDS:g} s")

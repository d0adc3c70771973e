"""A simulated vehicle with a small tracker: connects over TCP or UDP, reports, and reconnects."""

import logging
import math

import msgspec
import trio

from motorpool.bench.target import NewDevice, Target
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.route import Drive
from motorpool.bench.vehicles.trackers import TRACKERS, new_tracker
from motorpool.bench.vehicles.vehicle import DRIVE_START
from motorpool.codecs.devices import CODECS
from motorpool.runtime.clock import Clock

ANSWER_SECONDS = 20.0
"""How long the answer to a login is waited for."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 30.0
DEVICES_OF_A_MODEL = 10_000
HEARTBEAT_EACH = 12
"""Positions between two heartbeats."""

_log = logging.getLogger(__name__)


class TrackerPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of one vehicle."""

    protocol: str
    name: str
    unique_id: str
    trip: int
    seed: int
    interval_seconds: float
    udp: bool = False
    """Whether it sends datagrams."""
    model: str = ""
    """One of the tracker's `models`; empty: none."""

    def device(self) -> NewDevice:
        """Return the device to register. The same one has another protocol in the next simulation."""
        return NewDevice(
            name=self.name,
            unique_id=self.unique_id,
            model=self.model,
            category="car",
            attributes={"device.binding": "none"},
        )


class TrackedVehicle:
    """One vehicle."""

    def __init__(self, plan: TrackerPlan, target: Target, clock: Clock) -> None:
        self._plan = plan
        self._address = target.host, target.port(CODECS[plan.protocol].port)
        self._clock = clock
        self._drive = Drive(ROUND_TRIPS[plan.trip], plan.seed)
        self._socket: trio.socket.SocketType
        self._tracker = new_tracker(plan.protocol, plan.unique_id, plan.model)
        self._answered = trio.Event()

    async def run(self) -> None:
        """Drive and report until cancelled."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                await self._run_connection()
            except* (OSError, trio.TooSlowError) as errors:
                _log.debug("%s: connection lost: %s", self._plan.name, errors.exceptions[0])
            if self._answered.is_set():
                pause = FIRST_PAUSE_SECONDS
            await trio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)

    async def _run_connection(self) -> None:
        kind = trio.socket.SOCK_DGRAM if self._plan.udp else trio.socket.SOCK_STREAM
        found = await trio.socket.getaddrinfo(*self._address, type=kind)
        plan = self._plan
        self._tracker = new_tracker(plan.protocol, plan.unique_id, plan.model)
        self._answered = trio.Event()
        with trio.socket.socket(found[0][0], kind) as self._socket:
            await self._socket.connect(found[0][4])
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._receive)
                if await self._send(self._tracker.login()):
                    with trio.fail_after(ANSWER_SECONDS):
                        await self._answered.wait()
                await self._report()

    async def _report(self) -> None:
        count = 0
        while True:
            if count % HEARTBEAT_EACH == HEARTBEAT_EACH - 1:
                await self._send(self._tracker.heartbeat())
            moment = self._clock.now()
            state = self._drive.at((moment - DRIVE_START).total_seconds())
            await self._send(self._tracker.position(moment, state))
            count += 1
            await trio.sleep(self._plan.interval_seconds)

    async def _receive(self) -> None:
        while data := await self._socket.recv(65_535):
            self._answered.set()
            await self._send(self._tracker.receive(data))
        raise OSError("closed by the server")

    async def _send(self, message: bytes) -> bool:
        """Send a message; return whether there was one."""
        if message and self._plan.udp:
            message = self._tracker.datagram(message)
        if not message:
            return False
        while message:
            message = message[await self._socket.send(message) :]
        return True


def plan_trackers(
    protocol: str, *, count: int, interval_seconds: float, seed: int, udp: bool = False, model: str = ""
) -> tuple[TrackerPlan, ...]:
    """Plan vehicles with trackers of one protocol; fleets of different seeds share no device."""
    digits, models = TRACKERS[protocol].digits, TRACKERS[protocol].models
    # Devices keep their model once they are registered, so that those of each model are others.
    first = 1 + (DEVICES_OF_A_MODEL * (1 + models.index(model)) if model else 0)
    return tuple(
        TrackerPlan(
            protocol=protocol,
            name=f"{model or protocol} {number:02d}",
            unique_id=_unique_id(digits, seed, first + number - 1),
            trip=(number - 1) % len(ROUND_TRIPS),
            seed=seed * 100_000 + number,
            interval_seconds=interval_seconds,
            udp=udp,
            model=model,
        )
        for number in range(1, count + 1)
    )


def _unique_id(digits: int, seed: int, number: int) -> str:
    """Return a number of `digits` digits; one of 15 is an IMEI, with its check digit (3GPP TS 23.003, annex
    B).
    """
    if digits != 15:
        return f"{8 * 10 ** (digits - 1) + seed % 1000 * 100_000 + number}"
    body = f"356{seed % 1000:03}{number:08}"
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(body))
    total = sum(math.floor(value / 10) + value % 10 for value in doubled)
    return f"{body}{-total % 10}"

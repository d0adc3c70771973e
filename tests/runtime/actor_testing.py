"""Test support for actors: a recorder, failing actors, a clock whose wall time moves, a small system."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, Generic

import trio

from motorpool.runtime.actor import Actor
from motorpool.runtime.clock import Clock
from motorpool.runtime.intensity import BackOff
from motorpool.runtime.kind import Kind, M, Request
from motorpool.runtime.ref import Ref
from motorpool.runtime.specs import Child, ChildSpec, Restart, Strategy, SupervisorSpec
from motorpool.runtime.system import System
from motorpool.runtime.tree import open_system

EPOCH: Final = datetime(2024, 3, 1, 12, tzinfo=UTC)
"""Default start of the wall clock of a TestClock."""

STEADY: Final = BackOff(jitter=0.0)
"""A back-off without jitter."""


class TestClock:
    """Trio's clock, and a wall that goes with it and can be moved alone.

    Under `trio.testing.MockClock` both stand still until the test lets time pass.
    """

    __test__ = False  # pytest takes it for a test class by its name

    def __init__(self, wall: datetime = EPOCH) -> None:
        self._wall = wall
        self._values_from: float | None = None
        self._stands = False

    def monotonic(self) -> float:
        """Trio's clock."""
        return trio.current_time()

    def now(self) -> datetime:
        """The wall's start or latest setting, and the time that has passed since."""
        if self._stands:
            return self._wall
        if self._values_from is None:
            self._values_from = trio.current_time()
        return self._wall + timedelta(seconds=trio.current_time() - self._values_from)

    def set_wall(self, instant: datetime) -> None:
        """Put the wall on `instant`; the monotonic clock does not notice."""
        self._wall = instant.astimezone(UTC)
        self._values_from = trio.current_time()

    def stop_wall(self, instant: datetime) -> None:
        """Put the wall on `instant`, where it stays until it is moved: for whole seconds in assertions."""
        self.set_wall(instant)
        self._stands = True

    def move_wall(self, seconds: float) -> None:
        """Put the wall forward, or back."""
        self.set_wall(self.now() + timedelta(seconds=seconds))


class Probe(Actor[M]):
    """Records messages; a message that is an exception is raised.

    `answers` maps a request's class to the value it is answered with; a request without one breaks it too.
    """

    def __init__(self, answers: dict[type, object] | None = None, size: int = 10_000) -> None:
        self.messages: list[M] = []
        """All so far, in order."""
        self.stops = 0
        """How often `stop` ran."""
        self._answers = answers or {}
        self._put, self._take = trio.open_memory_channel[M](size)

    def handle(self, message: M) -> object:
        """Break, or record and answer."""
        if isinstance(message, BaseException):
            raise message
        self.messages.append(message)
        self._put.send_nowait(message)
        return self._answers[type(message)] if isinstance(message, Request) else None

    async def stop(self) -> None:
        """Count."""
        self.stops += 1

    async def receive(self) -> M:
        """The next message that was not received yet; waits for it."""
        return await self._take.receive()


class WaitingProbe(Probe[M]):
    """The same, from a handler that waits, and so in a task of the actor."""

    async def handle(self, message: M) -> object:
        """Wait, then break, or record and answer."""
        await trio.lowlevel.checkpoint()
        return super().handle(message)


class Broken(Exception):
    """The exception that the failing actors raise."""


class FailsInInit(Actor[object]):
    """Breaks in `__init__`."""

    def __init__(self) -> None:
        raise Broken("in __init__")


class FailsInStart(Actor[object]):
    """Breaks in `start`."""

    async def start(self) -> None:
        """Break."""
        raise Broken("in start")


class FailsInHandle(Actor[object]):
    """Breaks on any message."""

    def handle(self, message: object) -> object:
        """Break."""
        raise Broken(f"in handle, on {message}")


class FailsInRun(Actor[object]):
    """Breaks in `run` on the first message."""

    def __init__(self) -> None:
        self._requested = trio.Event()

    def handle(self, message: object) -> None:
        """Make `run` raise."""
        self._requested.set()

    async def run(self) -> None:
        """Break on the first message."""
        await self._requested.wait()
        raise Broken("in run")


class FailsInStop(Actor[object]):
    """Breaks in `stop`; until then it answers each message with itself."""

    def handle(self, message: object) -> object:
        """Answer."""
        return message

    async def stop(self) -> None:
        """Break."""
        raise Broken("in stop")


class Staged(Actor[object]):
    """Notes the stations of its life in a list that outlives it; raises a message that is an exception."""

    def __init__(self, name: str, stations: list[str]) -> None:
        self._name = name
        self._stations = stations

    async def start(self) -> None:
        """Note it."""
        await trio.lowlevel.checkpoint()
        self._stations.append(f"{self._name} starts")

    def handle(self, message: object) -> object:
        """Break, or note and answer with the message."""
        if isinstance(message, BaseException):
            raise message
        self._stations.append(f"{self._name} gets {message}")
        return message

    async def stop(self) -> None:
        """Note it."""
        await trio.lowlevel.checkpoint()
        self._stations.append(f"{self._name} stops")


@asynccontextmanager
async def open_tree(
    *children: Child,
    strategy: Strategy = Strategy.ONE_FOR_ONE,
    intensity: int = 5,
    shutdown_seconds: float | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[System]:
    """Run these children under one supervisor without jitter in its back-off: 0.1 s, 0.2 s, 0.4 s …"""
    tree = SupervisorSpec(
        name="test",
        children=children,
        strategy=strategy,
        intensity=intensity,
        shutdown_seconds=shutdown_seconds,
        back_off=STEADY,
    )
    async with open_system(tree, clock=clock) as system:
        yield system


class Running(Generic[M]):
    """An actor under test."""

    def __init__(self, system: System, ref: Ref[M], built: list[Actor[M]]) -> None:
        self.system: Final = system
        self.ref: Final = ref
        self.built: Final = built
        """The objects that its factory made so far: one more after each restart."""

    @property
    def actor(self) -> Actor[M]:
        """The object of its present life."""
        return self.built[-1]


@asynccontextmanager
async def run_actor(
    factory: Callable[[], Actor[M]],
    *others: Child,
    clock: Clock | None = None,
    restart: Restart = Restart.PERMANENT,
    mailbox_size: int = 1000,
    shutdown_seconds: float = 5.0,
    intensity: int = 5,
) -> AsyncIterator[Running[M]]:
    """Run one actor by itself, and `others` that it needs, which are started before it."""
    kind: Kind[None, M] = Kind("tested")
    built: list[Actor[M]] = []

    def build() -> Actor[M]:
        actor = factory()
        built.append(actor)
        return actor

    child = ChildSpec(
        kind=kind,
        factory=build,
        restart=restart,
        mailbox_size=mailbox_size,
        shutdown_seconds=shutdown_seconds,
    )
    async with open_tree(*others, child, intensity=intensity, clock=clock) as system:
        yield Running(system, system.ref(kind), built)

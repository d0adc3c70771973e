"""Small actors and trees that several tests of the runtime share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import trio

from motorpool.runtime import Actor, BackOff, ChildSpec, DynamicSpec, Kind, Request, Strategy, SupervisorSpec

STEADY = BackOff(jitter=0.0)
"""0.1 s, 0.2 s, 0.4 s …: no chance in it."""


@dataclass(frozen=True, slots=True)
class Get(Request[list[Any]]):
    """All that was told so far."""


@dataclass(frozen=True, slots=True)
class Boom:
    """A message that is fatal."""


class Recorder(Actor[Any]):
    """Keeps what it is told; plain handler."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def handle(self, message: Any) -> object:
        if isinstance(message, Get):
            return list(self.told)
        if isinstance(message, Boom):
            raise ValueError("boom")
        self.told.append(message)
        return None


class SlowRecorder(Recorder):
    """The same, but each message waits until the gate is open."""

    def __init__(self, gate: trio.Event) -> None:
        super().__init__()
        self.gate = gate

    async def handle(self, message: Any) -> object:
        await self.gate.wait()
        return super().handle(message)


class Staged(Actor[Any]):
    """Writes the stations of its life into a list that outlives it."""

    def __init__(self, name: str, events: list[str]) -> None:
        self.name = name
        self.events = events

    async def start(self) -> None:
        await trio.lowlevel.checkpoint()
        self.events.append(f"{self.name} starts")

    def handle(self, message: Any) -> object:
        if isinstance(message, Boom):
            raise ValueError(f"{self.name} breaks")
        self.events.append(f"{self.name} gets {message}")
        return message

    async def stop(self) -> None:
        await trio.lowlevel.checkpoint()
        self.events.append(f"{self.name} stops")


def tree(*children: Any, strategy: Strategy = Strategy.ONE_FOR_ONE, **more: Any) -> SupervisorSpec:
    return SupervisorSpec(name="system", children=children, strategy=strategy, back_off=STEADY, **more)


def child(kind: Kind[None, Any], factory: Callable[[], Actor[Any]], **more: Any) -> ChildSpec[Any]:
    return ChildSpec(kind=kind, factory=factory, **more)


def many(kind: Kind[Any, Any], factory: Callable[[Any], Actor[Any]] | None, **more: Any) -> DynamicSpec[Any, Any]:
    return DynamicSpec(kind=kind, name=f"{kind.name}s", factory=factory, back_off=STEADY, **more)

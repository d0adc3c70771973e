"""Hands steps of scheduled commands to their devices, and says what came of each."""

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, assert_never

import trio

from motorpool.actors.messages.uplink import (
    DEVICE,
    CommandOutcome,
    CommandQueued,
    CommandRefused,
    CommandSent,
    SendCommand,
)
from motorpool.runtime import ActorError, System
from motorpool.storage.edge_occurrences import StartedStep
from motorpool.storage.errors import StorageError
from motorpool.storage.runs import Outcome

__all__ = ["StepSender", "send_step"]

SEND_SECONDS = 10.0
"""A device writes to its connection, or to the queue, well within this."""
AT_ONCE = 64
"""Devices that are waited for: offline ones ask the database, whose connections are few."""
SLICE = 25
"""Steps in a row: a millisecond or two."""


class StepSender:
    """Part of the dispatcher: steps queue here and are handed over once each.

    In slices, so that a burst leaves others their turn. A device that is there takes its step at once; one
    that must be waited for has a task meanwhile.
    """

    def __init__(self, came: Callable[[StartedStep, Outcome], None]) -> None:
        """`came` is told what came of each."""
        self._came = came
        self._unsent: deque[StartedStep] = deque()
        self._filled = trio.Event()
        self._due = 0
        self._answered = trio.Event()

    @property
    def waiting(self) -> int:
        """Steps that have not been handed over yet."""
        return len(self._unsent)

    def put(self, step: StartedStep) -> None:
        """Queue one; it is `sending` already."""
        self._unsent.append(step)
        self._filled.set()

    def take_back(self) -> list[StartedStep]:
        """Give back what nobody has been handed."""
        unsent = list(self._unsent)
        self._unsent.clear()
        return unsent

    async def run(self, system: System) -> None:
        """Hand over, for ever."""
        async with trio.open_nursery() as nursery:
            while True:
                self._filled = trio.Event()
                if not self._unsent:
                    await self._filled.wait()
                for _ in range(min(SLICE, len(self._unsent))):
                    if self._due >= AT_ONCE:
                        await self._answered.wait()
                    # They may have been taken back meanwhile.
                    if self._unsent:
                        self._send(system, self._unsent.popleft(), nursery)
                await trio.lowlevel.checkpoint()

    def _send(self, system: System, step: StartedStep, nursery: trio.Nursery) -> None:
        outcome = send_step(system, step)
        if isinstance(outcome, Coroutine):
            self._due += 1
            nursery.start_soon(self._await, step, outcome)
        else:
            self._came(step, outcome)

    async def _await(self, step: StartedStep, outcome: Awaitable[Outcome]) -> None:
        self._came(step, await outcome)
        self._due -= 1
        self._answered.set()
        self._answered = trio.Event()


def send_step(system: System, step: StartedStep) -> Outcome | Coroutine[Any, Any, Outcome]:
    """Send it, or let it wait for an offline device as long as it may. It must be `sending` already.

    To a device that is there it mostly goes out at once; else what comes back must be awaited.
    """
    request = SendCommand(
        type=step.type,
        attributes=step.attributes,
        text_channel=step.text_channel,
        no_queue=step.queue_minutes == 0,
        run_id=step.run_id,
        queue_minutes=step.queue_minutes,
    )
    try:
        came = system.ref(DEVICE, step.device_id).ask_now(request, seconds=SEND_SECONDS)
    except (ActorError, StorageError) as error:
        return _failed(step, error)
    return _later(step, came) if isinstance(came, Coroutine) else _outcome(step, came)


async def _later(step: StartedStep, answer: Awaitable[CommandOutcome]) -> Outcome:
    try:
        return _outcome(step, await answer)
    except (ActorError, StorageError) as error:
        return _failed(step, error)


def _failed(step: StartedStep, error: Exception) -> Outcome:
    return Outcome(step.run_id, "failed", f"{type(error).__name__}: {error}")


def _outcome(step: StartedStep, came: CommandOutcome) -> Outcome:
    match came:
        case CommandSent():
            return Outcome(step.run_id, "sent")
        case CommandQueued():
            return Outcome(step.run_id, "queued")
        case CommandRefused(offline=True):
            return Outcome(step.run_id, "skipped", "offline")
        case CommandRefused():
            return Outcome(step.run_id, "skipped", "not_sent", came.reason)
        case _:
            assert_never(came)

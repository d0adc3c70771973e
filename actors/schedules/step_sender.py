"""Hands steps of scheduled commands to their devices, and reports the outcome of each."""

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
from motorpool.runtime import ActorError, Signal, System
from motorpool.storage.errors import StorageError
from motorpool.storage.schedules.edge_occurrences import StartedStep
from motorpool.storage.schedules.runs import Outcome

SEND_SECONDS = 10.0
"""A device writes to its connection, or to the queue, well within this."""
MAX_AWAITED = 64
"""Devices whose outcomes are awaited at once: offline ones need the database, whose connections are few."""
BURST = 25
"""Steps sent without a checkpoint: a millisecond or two."""


class StepSender:
    """Part of the dispatcher: steps queue here and are handed over once each.

    An online device mostly takes its step at once; a device whose outcome must be awaited has a task
    meanwhile. After a burst of steps other tasks get a turn.
    """

    def __init__(self, on_outcome: Callable[[StartedStep, Outcome], None]) -> None:
        """`on_outcome` is called with the outcome of each step."""
        self._on_outcome = on_outcome
        self._unsent: deque[StartedStep] = deque()
        self._filled = Signal()
        self._awaited = 0
        self._outcome_arrived = Signal()

    @property
    def waiting(self) -> int:
        """Steps that have not been handed over yet."""
        return len(self._unsent)

    def put(self, step: StartedStep) -> None:
        """Queue a step, which is marked `sending` already."""
        self._unsent.append(step)
        self._filled.set()

    def withdraw(self) -> list[StartedStep]:
        """Remove and return the steps that have not been handed over."""
        unsent = list(self._unsent)
        self._unsent.clear()
        return unsent

    async def run(self, system: System) -> None:
        """Hand steps over until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                while not self._unsent:
                    await self._filled.wait()
                for _ in range(min(BURST, len(self._unsent))):
                    while self._awaited >= MAX_AWAITED:
                        await self._outcome_arrived.wait()
                    # They may have been withdrawn meanwhile.
                    if self._unsent:
                        self._send(system, self._unsent.popleft(), nursery)
                await trio.lowlevel.checkpoint()

    def _send(self, system: System, step: StartedStep, nursery: trio.Nursery) -> None:
        outcome = send_step(system, step)
        if isinstance(outcome, Coroutine):
            self._awaited += 1
            nursery.start_soon(self._await, step, outcome)
        else:
            self._on_outcome(step, outcome)

    async def _await(self, step: StartedStep, outcome: Awaitable[Outcome]) -> None:
        self._on_outcome(step, await outcome)
        self._awaited -= 1
        self._outcome_arrived.set()


def send_step(system: System, step: StartedStep) -> Outcome | Coroutine[Any, Any, Outcome]:
    """Send a step, or queue it for an offline device as long as it may wait. It must be `sending` already.

    Return the outcome where the device takes the step at once, else a coroutine that must be awaited.
    """
    request = SendCommand(
        type=step.type,
        attributes=step.attributes,
        text_channel=step.text_channel,
        user_id=step.owner_id,
        no_queue=step.queue_minutes == 0,
        run_id=step.run_id,
        queue_minutes=step.queue_minutes,
        log_id=step.log_id,
    )
    try:
        answer = system.ref(DEVICE, step.device_id).ask_now(request, seconds=SEND_SECONDS)
    except (ActorError, StorageError) as error:
        return _failed(step, error)
    return _await_answer(step, answer) if isinstance(answer, Coroutine) else _outcome(step, answer)


async def _await_answer(step: StartedStep, answer: Awaitable[CommandOutcome]) -> Outcome:
    try:
        return _outcome(step, await answer)
    except (ActorError, StorageError) as error:
        return _failed(step, error)


def _failed(step: StartedStep, error: Exception) -> Outcome:
    return Outcome(step.run_id, "failed", f"{type(error).__name__}: {error}")


def _outcome(step: StartedStep, answer: CommandOutcome) -> Outcome:
    match answer:
        case CommandSent():
            return Outcome(step.run_id, "sent", answer_node=answer.answer_node)
        case CommandQueued():
            return Outcome(step.run_id, "queued")
        case CommandRefused(uncertain=True):
            return Outcome(step.run_id, "failed", answer.reason)
        case CommandRefused(offline=True):
            return Outcome(step.run_id, "skipped", "offline")
        case CommandRefused():
            return Outcome(step.run_id, "skipped", "not_sent", answer.reason)
        case _:
            assert_never(answer)

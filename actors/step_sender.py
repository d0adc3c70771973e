"""Hands one step of a scheduled command to its device, and says what came of it."""

from collections.abc import Awaitable, Coroutine
from typing import Any, assert_never

from motorpool.actors.uplink import (
    DEVICE,
    CommandOutcome,
    CommandQueued,
    CommandRefused,
    CommandSent,
    SendCommand,
)
from motorpool.runtime import ActorError, System
from motorpool.storage.errors import StorageError
from motorpool.storage.firings import Begun
from motorpool.storage.runs import Outcome

__all__ = ["send_step"]

SEND_SECONDS = 10.0
"""A device writes to its connection, or to the queue, well within this."""


def send_step(system: System, step: Begun) -> Outcome | Coroutine[Any, Any, Outcome]:
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


async def _later(step: Begun, answer: Awaitable[CommandOutcome]) -> Outcome:
    try:
        return _outcome(step, await answer)
    except (ActorError, StorageError) as error:
        return _failed(step, error)


def _failed(step: Begun, error: Exception) -> Outcome:
    return Outcome(step.run_id, "failed", f"{type(error).__name__}: {error}")


def _outcome(step: Begun, came: CommandOutcome) -> Outcome:
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

"""Hands one step of a scheduled command to its device, and says what came of it."""

from typing import assert_never

from motorpool.actors.uplink import DEVICE, CommandQueued, CommandRefused, CommandSent, SendCommand
from motorpool.runtime import ActorError, System
from motorpool.storage.errors import StorageError
from motorpool.storage.firings import Begun
from motorpool.storage.runs import Outcome

__all__ = ["send_step"]

SEND_SECONDS = 10.0
"""A device writes to its connection, or to the queue, well within this."""


async def send_step(system: System, step: Begun) -> Outcome:
    """Send it, or let it wait for an offline device as long as it may. It must be `sending` already."""
    request = SendCommand(
        type=step.type,
        attributes=step.attributes,
        text_channel=step.text_channel,
        no_queue=step.queue_minutes == 0,
        run_id=step.run_id,
        queue_minutes=step.queue_minutes,
    )
    try:
        came = await system.ref(DEVICE, step.device_id).ask(request, seconds=SEND_SECONDS)
    except (ActorError, StorageError) as error:
        return Outcome(step.run_id, "failed", f"{type(error).__name__}: {error}")
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

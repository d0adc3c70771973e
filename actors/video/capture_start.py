"""Begins captures: the record first, then the actor that subscribes to the channel."""

import trio

from motorpool.actors.video.capture import CAPTURE
from motorpool.actors.video.capture_list import CAPTURE_LIST, CaptureEnded, CaptureRecord, OpenCapture
from motorpool.runtime import System

__all__ = ["start_capture"]


async def start_capture(system: System, request: OpenCapture) -> CaptureRecord | None:
    """Open a capture of all that its channel sends from now on; None where the device has too many.

    Raises:
        ActorError: the stream or playback cannot be subscribed to, or the actors are not running.
    """
    captures = system.ref(CAPTURE_LIST)
    record = await captures.ask(request)
    if record is None:
        return None
    try:
        await system.start(CAPTURE, record.id)
    except BaseException as error:
        reason = f"the stream could not be asked: {error.__cause__ or error}"
        with trio.CancelScope(shield=True):
            await captures.ask(CaptureEnded(record.id, "FAILED", reason))
        raise
    return record

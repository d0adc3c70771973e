"""Begins captures: the record first, then the actor that subscribes to the channel."""

import trio

from motorpool.actors.video.capture import CAPTURE
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, CaptureEnded, OpenCapture
from motorpool.runtime import System
from motorpool.storage.video.captures import CaptureRecord


async def start_capture(system: System, request: OpenCapture) -> CaptureRecord | None:
    """Open a capture of all that its channel sends from now on; None if the device has too many or is gone.

    Raises:
        ActorError: the stream or playback cannot be subscribed to, or the actors are not running.
        StorageError: it cannot be stored now.
    """
    records = system.ref(CAPTURE_RECORDS)
    record = await records.ask(request)
    if record is None:
        return None
    try:
        await system.start(CAPTURE, record.id)
    except BaseException as error:
        reason = f"the stream could not be asked: {error.__cause__ or error}"
        with trio.CancelScope(shield=True):
            await records.ask(CaptureEnded(record.id, "FAILED", reason))
        raise
    return record

"""Begins captures: of what a channel sends, and of what a device has recorded and is told to play back."""

from datetime import datetime
from typing import NamedTuple

import trio

from motorpool.actors.messages.captures import CAPTURE, EndCapture
from motorpool.actors.messages.playback import PLAYBACK, GetPlaybackState
from motorpool.actors.messages.uplink import DEVICE, CommandRefused, SendCommand
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, CaptureEnded, OpenCapture
from motorpool.runtime import ActorError, ActorStopped, System
from motorpool.storage.errors import StorageError
from motorpool.storage.video.captures import CaptureRecord

COMMAND_SECONDS = 10.0
"""For the command to be passed to the device's connection."""
SLOWNESS = 4.0
"""A recording that takes longer than this multiple of its span is cut off."""
STARTUP_SECONDS = 60.0
VIEWED_SECONDS = 60.0
"""A playback that was read within this time is not replaced."""


class NotCaptured(NamedTuple):
    """Why nothing is captured."""

    reason: str
    may_pass: bool
    """Whether it may be different soon: the device is offline, or has too many open captures."""


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


async def begin_capture(system: System, request: OpenCapture) -> CaptureRecord | NotCaptured:
    """Open a capture of all that its channel sends from now on."""
    try:
        record = await start_capture(system, request)
    except (ActorError, StorageError) as error:
        return NotCaptured(f"the channel cannot be captured now: {error.__cause__ or error}", may_pass=True)
    if record is None:
        return NotCaptured("the device has as many open captures as are allowed", may_pass=True)
    return record


async def is_playing(system: System, device_id: int, channel: int) -> bool:
    """Return whether a recording would disturb others: the device plays one, or one of the channel is viewed.

    Terminals play one recording at a time, and a new playback replaces the present one of its channel.
    """
    for key in system.keys(PLAYBACK):
        if key[0] == device_id:
            try:
                state = await system.ref(PLAYBACK, key).ask(GetPlaybackState())
            except ActorStopped:
                continue
            except ActorError:
                return True
            if state is None:
                continue
            is_viewed = state.unread_seconds is not None and state.unread_seconds < VIEWED_SECONDS
            if state.status != "ENDED" or (is_viewed and key[1] == channel):
                return True
    return False


async def capture_recording(
    system: System,
    *,
    device_id: int,
    unique_id: str,
    channel: int,
    begins: datetime,
    ends: datetime,
    user_id: int,
) -> CaptureRecord | NotCaptured:
    """Capture what a camera recorded from `begins` to `ends`, as a command of `user_id`.

    A playback of the channel that is running is replaced.
    """
    seconds = (ends - begins).total_seconds() * SLOWNESS + STARTUP_SECONDS
    record = await begin_capture(
        system, OpenCapture(device_id, channel, unique_id=unique_id, max_seconds=seconds)
    )
    if isinstance(record, NotCaptured):
        return record
    command = SendCommand(
        "videoPlayback",
        {"channel": channel, "startTime": begins.isoformat(), "endTime": ends.isoformat()},
        no_queue=True,
        user_id=user_id,
    )
    refused: NotCaptured | None = None
    try:
        outcome = await system.ref(DEVICE, device_id).ask(command, seconds=COMMAND_SECONDS)
        if isinstance(outcome, CommandRefused):
            refused = NotCaptured(outcome.reason, outcome.offline)
    except ActorError as error:
        refused = NotCaptured(f"the device cannot be asked: {error}", may_pass=True)
    if refused is None:
        return record
    end_capture(system, record.id, refused.reason)
    return refused


def end_capture(system: System, capture_id: str, reason: str) -> None:
    """Have a capture end if it is recording, and keep what came."""
    if capture_id in system.keys(CAPTURE):
        system.ref(CAPTURE, capture_id).offer(EndCapture(reason))

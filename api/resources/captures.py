"""Captures: video of a device kept as a file (docs/decisions/0025)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from quart import Response

from motorpool.actors.files.media_files import media_url
from motorpool.actors.messages.captures import CAPTURE, EndCapture
from motorpool.actors.video.capture_records import OpenCapture
from motorpool.actors.video.capture_start import start_capture
from motorpool.api.auth.rights import CAPTURE_VIDEO, READ_HISTORY
from motorpool.api.cluster.forwarding import RETRY_SECONDS, answer_of_home, answer_of_server
from motorpool.api.engine.audit import record_action
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import PageSize
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.spans import Instant
from motorpool.api.history import readable_capture, require_history
from motorpool.api.http.errors import BadRequest, ResourceNotFound, Unavailable
from motorpool.api.http.responses import as_json
from motorpool.api.json import extended
from motorpool.codecs.channel_map import CHANNELS
from motorpool.runtime import ActorFailed, ActorStopped, AskTimedOut
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureRecord, CaptureStatus

OPERATIONS = Operations("media")

END_SECONDS = 20.0
"""To write what is left and bring the file onto the disk."""


class Capture(msgspec.Struct, rename="camel"):
    """A capture, with the fields of the specification and some of ours."""

    id: str
    """What the capture is asked for by."""
    device_id: int
    channel: int
    """1 to 31; 0 where it is not known, which is possible if release 0.3.0 or an earlier one made it."""
    file_name: str
    """Name of the file."""
    url: str | None
    """Where the file can be fetched; null until it is complete, and once it was removed."""
    started_at: datetime
    """When it was made."""
    completed_at: datetime | None
    """When it ended; null while it is recording."""
    status: CaptureStatus
    """RECORDING, COMPLETE or FAILED."""
    size: int
    """Bytes of the file; while it is recording as of a few seconds ago."""
    reason: str | None
    """Why it has ended; null while it is recording."""
    live: bool
    """Whether the live stream is captured, rather than a playback."""
    start_time: datetime | None
    """When the earliest of it was recorded; null for live video and where unknown."""
    end_time: datetime | None
    """The end of the latest of it."""


class CapturesQuery(
    msgspec.Struct, kw_only=True, rename={"device_id": "deviceId", "start": "from", "end": "to"}
):
    """Which captures to list, by when they began; both ends of the span are included."""

    device_id: int | None = None
    """Only captures of this device; without `from` and `to` those since the last start of the server."""
    start: Instant | None = None
    end: Instant | None = None
    limit: PageSize = 0
    """Maximum number of captures, the newest; 0 is 1000."""


class NewCapture(msgspec.Struct, rename="camel"):
    """What to capture."""

    device_id: int
    channel: int
    live: bool = False
    """The live stream; else what the device sends after `videoPlayback`."""
    minutes: Annotated[float, msgspec.Meta(gt=0, le=10_080)] | None = None
    """How long a live capture lasts; without it until it is deleted or the stream ends."""


@OPERATIONS.operation("GET", "/captures", query=CapturesQuery, answer=list[Capture], errors=(400, 404))
async def list_captures(call: Call) -> Response:
    """The captures of a device, or without `deviceId` of all devices that the caller sees, newest first.

    With `from` or `to`, or without `deviceId`, all that are kept; the next page is that with `startedAt` of
    the last one as `to`. With `deviceId` alone those since the last start of the server, in a cluster all.
    """
    wanted = call.query(CapturesQuery)
    READ_HISTORY.require(call.caller)
    since_start = False
    if wanted.device_id is not None:
        await require_history(call, wanted.device_id)
        since_start = wanted.start is None and wanted.end is None
    found = await captures.newest(
        call.context.database,
        device_id=wanted.device_id,
        visible_to=call.caller.id if wanted.device_id is None and not call.caller.administrator else None,
        node=call.context.single_node if since_start else None,
        start=wanted.start,
        end=wanted.end,
        limit=wanted.limit,
    )
    return as_json(await _shown(call, found))


@OPERATIONS.operation("POST", "/captures", query=NewCapture, answer=Capture, errors=(400, 404))
async def create_capture(call: Call) -> Response:
    """Begin a capture; the command that starts the device is sent after it."""
    CAPTURE_VIDEO.require(call.caller)
    wanted = call.query(NewCapture)
    await require_history(call, wanted.device_id)
    if wanted.channel not in CHANNELS:
        raise BadRequest("channel: cameras have the numbers 1 to 31")
    if wanted.minutes is not None and not wanted.live:
        raise BadRequest("minutes: for live captures; a playback lasts as long as the recording")
    if (answer := await answer_of_home(call, wanted.device_id, as_caller=True)) is not None:
        return answer
    call.require_memory()
    context = call.context
    found = await context.devices.get(wanted.device_id)
    if found is None:
        raise ResourceNotFound("no such device")
    device = found.record
    chosen = context.settings.captures
    try:
        record = await start_capture(
            context.system,
            OpenCapture(
                device.id,
                wanted.channel,
                wanted.live,
                unique_id=device.unique_id,
                max_seconds=None if wanted.minutes is None else wanted.minutes * 60,
            ),
        )
    except ActorFailed as error:
        raise Unavailable("the stream of the channel cannot be captured now") from error
    if record is None:
        if await context.devices.get(device.id) is None:
            raise ResourceNotFound("no such device")
        raise BadRequest(f"open captures of one device at once: {chosen.per_device} at most")
    attributes = {"channel": record.channel, "fileName": record.file_name}
    await record_action(call, context.database, "capture", "device", device.id, attributes=attributes)
    return as_json((await _shown(call, [record]))[0])


@OPERATIONS.operation("GET", "/captures/{id:text}", answer=Capture, errors=(400,))
async def get_capture(call: Call) -> Response:
    """A capture; its size grows while it is recording."""
    return as_json((await _shown(call, [await _find(call)]))[0])


@OPERATIONS.operation("DELETE", "/captures/{id:text}", answer=Capture, errors=(400,))
async def end_capture(call: Call) -> Response:
    """Complete a capture early, keeping what arrived."""
    record = await _find(call)
    CAPTURE_VIDEO.require(call.caller)
    if record.status == "RECORDING":
        system = call.context.system
        if record.id in system.keys(CAPTURE):
            try:
                await system.ref(CAPTURE, record.id).ask(EndCapture("ended by a user"), seconds=END_SECONDS)
            except (ActorFailed, ActorStopped):
                pass  # it has just ended by itself, and its record says how
            except AskTimedOut as error:
                raise Unavailable("the file is still being written") from error
            record = await _find(call)
        # It may have moved to another server.
        if record.status == "RECORDING" and (answer := await answer_of_server(call, record.node)):
            return answer
        record = await _find(call)
        if record.status == "RECORDING":
            raise Unavailable("how the capture has ended is not known yet", RETRY_SECONDS)
    return as_json((await _shown(call, [record]))[0])


async def _find(call: Call) -> CaptureRecord:
    record = await readable_capture(call, call.path["id"])
    if record is None:
        raise ResourceNotFound("no such capture")
    return record


async def _shown(call: Call, records: Sequence[CaptureRecord]) -> list[Capture]:
    """Add where the files are: in the folder of the name that their device has now."""
    rows = await call.context.devices.get_many({record.device_id for record in records})
    shown = []
    for record in records:
        device = rows.get(record.device_id)
        is_there = record.status == "COMPLETE" and not record.removed
        url = media_url(device.record.unique_id, record.file_name) if device and is_there else None
        shown.append(extended(Capture, record, url=url))
    return shown

"""What a comment adds to a ticket as evidence: a capture, and where a device was."""

from typing import Any, NamedTuple

import trio

from motorpool.actors.files.media_files import device_folder, measure, media_folder
from motorpool.actors.tickets.rule_tickets import snapshot_of
from motorpool.actors.video.capture_list import CAPTURE_LIST, GetCapture
from motorpool.api.access import may_see_device
from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest
from motorpool.storage import positions
from motorpool.storage.ticket_files import FileFacts

__all__ = ["Evidence", "find_evidence"]


class Evidence(NamedTuple):
    """Entries for the history, and files that the ticket is to keep."""

    entries: tuple[dict[str, Any], ...] = ()
    files: tuple[FileFacts, ...] = ()


async def find_evidence(call: Call, capture_id: str, position_id: int) -> Evidence:
    """Return the evidence that a request names; empty or 0: none.

    Raises:
        BadRequest: The caller does not see it, or the capture has no file.
    """
    entries: list[dict[str, Any]] = []
    files: list[FileFacts] = []
    if position_id:
        found = await positions.by_ids(call.context.database, [position_id])
        if not found or not await may_see_device(call, found[0].device_id):
            raise BadRequest("positionId: no access to it, or no such")
        shown = {"deviceId": found[0].device_id, "positionId": position_id}
        entries.append({**shown, "positionSnapshot": dict(snapshot_of(found[0]))})
    if capture_id:
        entry, file = await _capture(call, capture_id)
        entries.append(entry)
        files.append(file)
    return Evidence(tuple(entries), tuple(files))


async def _capture(call: Call, capture_id: str) -> tuple[dict[str, Any], FileFacts]:
    record = await call.context.system.ref(CAPTURE_LIST).ask(GetCapture(capture_id))
    if record is None or not await may_see_device(call, record.device_id):
        raise BadRequest("captureId: no access to it, or no such")
    if record.status == "RECORDING":
        raise BadRequest("captureId: the capture is not complete yet")
    device = await call.context.devices.get(record.device_id)
    if record.status == "FAILED" or record.removed or device is None:
        raise BadRequest("captureId: the capture has no file")
    path = device_folder(media_folder(call.context.settings.data), device.record.unique_id) / record.file_name
    try:
        size, digest = await trio.to_thread.run_sync(measure, path)
    except OSError:
        raise BadRequest("captureId: the capture has no file") from None
    file = FileFacts(record.file_name, size, digest)
    entry = {
        "captureId": record.id,
        "deviceId": record.device_id,
        "channel": record.channel,
        "fileName": file.name,
        "size": file.size,
        "sha256": file.sha256,
    }
    return entry, file

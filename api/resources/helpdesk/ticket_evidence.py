"""What a comment adds to a ticket as evidence: captures, files of devices, and where a device was."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec

from motorpool.actors.files.file_retention import MEDIA_NAMES
from motorpool.actors.helpdesk.capture_evidence import (
    capture_attributes,
    file_attributes,
    measure_file,
    with_camera,
)
from motorpool.actors.helpdesk.rule_tickets import snapshot_of
from motorpool.actors.messages.tickets import TICKET_CAPTURES, TicketCapturesWaiting
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FilesHeld
from motorpool.actors.video.capture_files import CAPTURE_NAMES
from motorpool.api.access import may_see_device
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import Id
from motorpool.api.history import readable_capture, readable_positions, require_history
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.library import camera_of
from motorpool.storage.database.queries import Queries
from motorpool.storage.helpdesk import ticket_captures, ticket_files
from motorpool.storage.helpdesk.helpdesk_records import Ticket
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.helpdesk.ticket_files import MAX_OF_TICKET, FileFacts
from motorpool.storage.records import Device
from motorpool.storage.video import captures
from motorpool.storage.video.captures import CaptureRecord

MAX_FILES = 20
"""Files of one comment."""


class EvidenceFile(msgspec.Struct, frozen=True, rename="camel"):
    """A file of a device: a photo, sound, video, file of an alarm or capture, as `GET /media` serves it."""

    device_id: Id
    """The device."""
    file_name: str
    """Name of a photo, sound, video, file of an alarm, or capture."""


class Evidence(NamedTuple):
    """What a request adds to a ticket."""

    entries: tuple[dict[str, Any], ...] = ()
    """For the history."""
    files: tuple[FileFacts, ...] = ()
    """Files that the ticket will keep."""
    recording: CaptureRecord | None = None
    """A capture that has not ended, whose end the ticket is to get."""


async def find_evidence(
    call: Call, capture_id: str, position_id: int, files: Sequence[EvidenceFile]
) -> Evidence:
    """Return the evidence that a request names; empty or 0: none.

    Raises:
        BadRequest: The caller may not read it, or there is no such.
    """
    entries: list[dict[str, Any]] = []
    found: list[FileFacts] = []
    recording = None
    if position_id:
        position = (await readable_positions(call, [position_id])).get(position_id)
        if position is None:
            raise BadRequest("positionId: no access to it, or no such")
        shown = {"deviceId": position.device_id, "positionId": position_id}
        entries.append({**shown, "positionSnapshot": dict(snapshot_of(position))})
    if capture_id:
        record = await readable_capture(call, capture_id)
        if record is None:
            raise BadRequest("captureId: no access to it, or no such")
        if record.status == "RECORDING":
            recording = record
            entries.append(capture_attributes(record, record.id, record.status))
        else:
            entry, file = await _ended_capture(call, record)
            entries.append(entry)
            found.append(file)
    for place, each in enumerate(files):
        entry, file = await _file(call, each, f"files[{place}]")
        entries.append(entry)
        found.append(file)
    named = [await with_camera(call.context.database, entry) for entry in entries]
    return Evidence(tuple(named), tuple(found), recording)


async def keep_evidence(transaction: Queries, evidence: Evidence, ticket: Ticket, *, internal: bool) -> None:
    """Have a ticket, which is locked, keep the files of its evidence, and wait for the end of a capture.

    Raises:
        BadRequest: The ticket would keep too many files.
    """
    for file in evidence.files:
        await ticket_files.add(transaction, ticket.company_id, ticket.id, file)
    if evidence.files and await ticket_files.count(transaction, ticket.id) > MAX_OF_TICKET:
        raise BadRequest(f"a ticket keeps {MAX_OF_TICKET} files at most")
    record = evidence.recording
    if record is not None:
        at = record.started_at
        capture = TicketCapture(
            company_id=ticket.company_id,
            ticket_id=ticket.id,
            device_id=record.device_id,
            channel=record.channel,
            begins=at,
            ends=at,
            not_before=at,
            expires=at,
            live=record.live,
            internal=internal,
            status="recording",
            capture_id=record.id,
            file_name=record.file_name,
            # No server has it yet: the one that records takes it over.
            leased_until=at,
        )
        await ticket_captures.add(transaction, capture)


def announce_evidence(call: Call, evidence: Evidence) -> None:
    """Have files kept at once, and the end of a capture awaited; after the commit."""
    if evidence.files:
        names = tuple(file.name for file in evidence.files)
        call.context.system.ref(FILE_RETENTION).offer(FilesHeld(names))
    if evidence.recording is not None:
        call.context.system.ref(TICKET_CAPTURES).offer(TicketCapturesWaiting())


async def _ended_capture(call: Call, record: CaptureRecord) -> tuple[dict[str, Any], FileFacts]:
    device = await call.context.devices.get(record.device_id)
    if record.status == "FAILED" or record.removed or device is None:
        raise BadRequest("captureId: the capture has no file")
    file = await _measured(call, device.record, record.file_name)
    if file is None:
        raise BadRequest("captureId: the capture has no file")
    return capture_attributes(record, record.id, record.status) | file_attributes(device.record, file), file


async def _file(call: Call, named: EvidenceFile, place: str) -> tuple[dict[str, Any], FileFacts]:
    device = None
    if await may_see_device(call, named.device_id):
        device = await call.context.devices.get(named.device_id)
    if device is None:
        raise BadRequest(f"{place}.deviceId: no access to it, or no such")
    name = named.file_name
    is_kept = fnmatchcase(name, MEDIA_NAMES) or fnmatchcase(name, CAPTURE_NAMES)
    if not is_kept or "/" in name or not name.isprintable():
        raise BadRequest(f"{place}.fileName: not the name of a photo, file of an alarm or capture")
    if fnmatchcase(name, CAPTURE_NAMES):
        await require_history(call, device.record.id)
        capture_id = await captures.recording_into(call.context.database, name)
        if capture_id is not None:
            raise BadRequest(f"{place}.fileName: still being recorded; name its captureId {capture_id}")
    file = await _measured(call, device.record, name)
    if file is None:
        raise BadRequest(f"{place}.fileName: there is no such file")
    camera = await camera_of(call, device.record.id, name)
    return file_attributes(device.record, file) | ({"channel": camera} if camera else {}), file


async def _measured(call: Call, device: Device, name: str) -> FileFacts | None:
    try:
        return await measure_file(call.context.files.store, device.unique_id, name)
    except FileNotFoundError:
        return None

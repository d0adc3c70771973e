"""What the history of a ticket says of a capture, and of files (docs/tickets.md#evidence)."""

from collections.abc import Mapping
from typing import Any

import trio

from motorpool.actors.files.media_files import measure, media_url
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.helpdesk.facts import Author
from motorpool.actors.words.record_json import format_time
from motorpool.storage.database.queries import Queries
from motorpool.storage.devices import camera_names
from motorpool.storage.helpdesk.ticket_captures import TicketCapture
from motorpool.storage.helpdesk.ticket_files import FileFacts
from motorpool.storage.records import Device
from motorpool.storage.video.captures import CaptureRecord

MEASURED = 2
"""Files that are read at the same time: they may be large, and threads serve live video as well."""

_MEASURING = trio.CapacityLimiter(MEASURED)


async def measure_file(store: MediaStore, unique_id: str, name: str) -> FileFacts:
    """Return size and hash of a file in the folder of a device.

    Raises:
        OSError: There is no such file.
    """
    size, digest = await trio.to_thread.run_sync(measure, store, unique_id, name, limiter=_MEASURING)
    return FileFacts(name, size, digest)


def file_attributes(device: Device, file: FileFacts) -> dict[str, Any]:
    """Return the attributes of an entry about a file of a device."""
    return {
        "deviceId": device.id,
        "fileName": file.name,
        "url": media_url(device.unique_id, file.name),
        "size": file.size,
        "sha256": file.sha256,
    }


def capture_attributes(
    capture: TicketCapture | CaptureRecord, capture_id: str, status: str, reason: str = ""
) -> dict[str, Any]:
    """Return the attributes of an entry about a capture, without those of its file."""
    attributes: dict[str, Any] = {
        "captureId": capture_id,
        "deviceId": capture.device_id,
        "channel": capture.channel,
        "live": capture.live,
        "status": status,
        "fileName": capture.file_name,
        "reason": reason,
    }
    return {name: value for name, value in attributes.items() if value != ""}


async def with_camera(q: Queries, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Add to the attributes of an entry what its camera is called, if it has a name."""
    device_id, channel = attributes.get("deviceId"), attributes.get("channel")
    if not (device_id and channel):
        return {**attributes}
    names = await camera_names.names_of(q, (device_id,))
    name = names[device_id].get(str(channel))
    return {**attributes} if name is None else {**attributes, "camera": name}


def entry_of(capture: TicketCapture, status: str, reason: str = "") -> dict[str, Any]:
    """Return the attributes of an entry about a capture that a ticket waits for."""
    attributes = capture_attributes(capture, capture.capture_id, status, reason)
    if capture.rule and not capture.live:
        attributes |= {"from": format_time(capture.begins), "to": format_time(capture.ends)}
    return attributes


def author_of(capture: TicketCapture) -> Author:
    """Return the author of such an entry."""
    if not capture.rule:
        return Author(kind="device")
    return Author(kind="device", attributes={"ruleId": capture.rule, "ruleName": capture.rule_name})

"""What a device actor is told and asked: the way up from its connection, and its commands."""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.actors.messages.changes import DeviceChanged, PositionsDeleted
from motorpool.actors.messages.downlink import ConnectionMessage
from motorpool.codecs.reports import (
    AlarmFilesAnnounced,
    CommandResult,
    FileUploadCompleted,
    MediaFile,
    PositionReport,
    RecordingList,
)
from motorpool.runtime import Kind, NodeLocal, Ref, Request
from motorpool.storage.records import Position, QueuedCommand

__all__ = [
    "DEVICE",
    "AlarmFileStored",
    "AuthorizeAlarmUpload",
    "CheckStatus",
    "CommandAnswered",
    "CommandOutcome",
    "CommandQueued",
    "CommandRefused",
    "CommandSent",
    "Connected",
    "DeviceMessage",
    "DeviceSeen",
    "Disconnected",
    "GetCommandTypes",
    "MediaUploaded",
    "PositionReported",
    "RecordingListReceived",
    "SendCommand",
    "SetAccumulators",
]


class Connected(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A connection has identified itself as this device; it replaces any older one."""

    connection: Ref[ConnectionMessage]
    protocol: str
    peer: str
    """Its address."""
    local_host: str
    """The address at which it reached us."""


class Disconnected(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """That connection has ended, or speaks for another device now."""

    connection: Ref[ConnectionMessage]


class DeviceSeen(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device said something that carries no position."""

    protocol: str
    connection: Ref[ConnectionMessage]


class PositionReported(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device told a position."""

    report: PositionReport
    protocol: str
    connection: Ref[ConnectionMessage]


class CommandAnswered(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device answered a command."""

    result: CommandResult
    protocol: str
    connection: Ref[ConnectionMessage]


class MediaUploaded(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device uploaded a file."""

    media: MediaFile
    protocol: str
    connection: Ref[ConnectionMessage]


class AuthorizeAlarmUpload(msgspec.Struct, Request[str], NodeLocal, frozen=True, gc=False):
    """May the device upload the files of an alarm? Answered by its `unique_id`, empty if it may not."""

    upload: AlarmFilesAnnounced


class AlarmFileStored(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A file of an alarm is on the disk."""

    name: str
    """Under which it is stored; not the device's."""
    file: FileUploadCompleted
    upload: AlarmFilesAnnounced
    """The upload that it belongs to."""
    protocol: str
    connection: Ref[ConnectionMessage]


class RecordingListReceived(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device answered a query for its recordings."""

    list: RecordingList
    protocol: str
    connection: Ref[ConnectionMessage]


class CommandSent(msgspec.Struct, frozen=True, gc=False):
    """Handed to the device's live connection."""


class CommandQueued(msgspec.Struct, frozen=True, gc=False):
    """Kept for the device's next connection or message."""

    queued: QueuedCommand


class CommandRefused(msgspec.Struct, frozen=True, gc=False):
    """Not sent and not kept."""

    reason: str
    offline: bool = False
    """There is nothing wrong with it but that the device is not connected."""


CommandOutcome = CommandSent | CommandQueued | CommandRefused


class SendCommand(msgspec.Struct, Request[CommandOutcome], frozen=True, gc=False):
    """Send a command now, or keep it for later."""

    type: str
    attributes: Mapping[str, Any] = {}
    no_queue: bool = False
    """Refuse rather than keep it for an offline device."""
    by_reader: bool = False
    """Asked by a stream for its readers: starting it so does not hold it (docs/decisions/0024)."""
    text_channel: bool = False
    """By text message."""
    run_id: int = 0
    """The step of a scheduled command that this is, committed as `sending`."""
    queue_minutes: int = 0
    """How long such a step may wait for its device."""


class GetCommandTypes(msgspec.Struct, Request[tuple[str, ...]], frozen=True, gc=False):
    """The command types that the device's protocol supports; `custom` alone while that is unknown."""


class SetAccumulators(msgspec.Struct, Request[Position | None], frozen=True, gc=False):
    """Store the latest position again with these values; None stays as it is.

    Answered by the stored position once it is published, None where the device has no position.
    """

    total_distance: float | None
    """Metres."""
    hours: float | None
    """Milliseconds."""


class CheckStatus(msgspec.Struct, frozen=True, gc=False):
    """Time to look whether the device has been silent for too long."""


DeviceMessage = (
    PositionReported
    | DeviceSeen
    | Connected
    | Disconnected
    | CommandAnswered
    | MediaUploaded
    | AuthorizeAlarmUpload
    | AlarmFileStored
    | RecordingListReceived
    | SendCommand
    | GetCommandTypes
    | DeviceChanged
    | PositionsDeleted
    | SetAccumulators
    | CheckStatus
)
DEVICE: Kind[int, DeviceMessage] = Kind("device")

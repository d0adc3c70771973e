"""The messages to a device actor: reports from its connection, commands, and changes of its row."""

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
    Secret,
    SoundFormat,
)
from motorpool.runtime import Arrived, Kind, NodeLocal, Ref, Request
from motorpool.storage.records import Position, QueuedCommand


class LoginRefused(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The connection may not serve the device."""

    reason: str


class CodeIssued(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The terminal has registered and gets this code, and serves the device once it logs in by it."""

    code: Secret


class Connected(msgspec.Struct, Request[LoginRefused | CodeIssued | None], NodeLocal, frozen=True, gc=False):
    """A connection has identified itself as this device; it replaces any older one.

    Answered with None when the connection has been told what affects decoding, before queued commands are
    sent.
    The ask raises StorageError while it cannot be decided.
    """

    connection: Ref[ConnectionMessage]
    protocol: str
    peer: str
    """Address from which the device is connected."""
    local_host: str
    """The server's address to which the device connected."""
    unique_ids: tuple[str, ...]
    """The identities of its login; one of them was the device's."""
    is_datagram: bool = False
    """Whether it is an address that sends datagrams."""
    secret: Secret | None = None
    """What the login has presented."""
    registration: Mapping[str, Any] = {}
    """What the login says of the device."""
    wants_code: bool = False
    """Whether the login is a registration."""
    is_repeated: bool = False
    """Whether the connection serves the device already; it is closed where it may not any more."""


class Disconnected(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The connection has ended, or serves another device from now on."""

    connection: Ref[ConnectionMessage]


class AttachConnection(msgspec.Struct, Request[bool], NodeLocal, frozen=True, gc=False):
    """Another connection serves the device: it carries media, or uploads files.

    Return whether the device may report. Its connections are closed as soon as it may not.
    """

    connection: Ref[ConnectionMessage]
    unique_ids: tuple[str, ...]
    """The identities by which the device was found; one of them was its own."""


class DetachConnection(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A connection that was attached has ended, or no longer serves the device."""

    connection: Ref[ConnectionMessage]


class DeviceSeen(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device sent a message without a position."""

    protocol: str
    connection: Ref[ConnectionMessage]


class PositionReported(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device reported a position."""

    report: PositionReport
    protocol: str
    connection: Ref[ConnectionMessage]


class TellStored(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Send `Settled` to the connection once all that the device has reported before is stored."""

    connection: Ref[ConnectionMessage]


class Reported(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """The device answered a command or a query, or uploaded a file."""

    report: CommandResult | MediaFile | RecordingList | SoundFormat
    protocol: str
    connection: Ref[ConnectionMessage]


class AuthorizeAlarmUpload(msgspec.Struct, Request[str], NodeLocal, frozen=True, gc=False):
    """Return the device's `unique_id` if it may upload these files of an alarm, else an empty string."""

    upload: AlarmFilesAnnounced
    connection: Ref[ConnectionMessage]
    """The connection on which they come; it is attached unless it is the device's own."""


class AlarmFileStored(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """A file of an alarm was written to disk."""

    name: str
    """Name on disk, chosen by the server."""
    file: FileUploadCompleted
    upload: AlarmFilesAnnounced
    """The upload to which the file belongs."""
    protocol: str
    connection: Ref[ConnectionMessage]


class CommandSent(msgspec.Struct, frozen=True, gc=False):
    """The command was sent to the device's connection."""

    answer_node: int | None = None
    """The server at which an answer may come for the row in the log; None: there is no such answer."""


class CommandQueued(msgspec.Struct, frozen=True, gc=False):
    """The command waits for the device's next connection or, in request-response protocols, message."""

    queued: QueuedCommand


class CommandRefused(msgspec.Struct, frozen=True, gc=False):
    """The command was neither sent nor queued."""

    reason: str
    offline: bool = False
    """Whether the only reason is that the device is not connected."""
    uncertain: bool = False
    """Whether it may have been sent all the same."""


CommandOutcome = CommandSent | CommandQueued | CommandRefused


class SendCommand(msgspec.Struct, Request[CommandOutcome], frozen=True, gc=False):
    """Send a command now, or queue it for later."""

    type: str
    attributes: Mapping[str, Any] = {}
    no_queue: bool = False
    """Refuse the command instead of queueing it if the device is offline."""
    by_reader: bool = False
    """Sent by a stream for its readers: such a start does not hold the stream (docs/decisions/0024)."""
    text_channel: bool = False
    """Whether to send it as a text message."""
    user_id: int = 0
    """Who sends it; 0 if nobody does."""
    run_id: int = 0
    """The run of a scheduled command's step, stored as `sending`; 0 for other commands."""
    queue_minutes: int = 0
    """Minutes that such a step may wait in the queue."""
    ticket_command_id: int = 0
    """Id of its row in `ticket_commands`, if it is sent for a ticket; else 0."""
    log_id: int = 0
    """Id of its row in the log of commands; 0 if it has none."""


HANDOVER_MINUTES = 1
"""How long a command that must not wait is queued for the server that the device is connected to."""


class DeliverQueued(msgspec.Struct, frozen=True, gc=False):
    """Commands were put into the queue of the device in the database: send them if it is connected."""


class ConnectedElsewhere(msgspec.Struct, frozen=True, gc=False):
    """The device has connected to another server of the cluster since."""


class StoredElsewhere(msgspec.Struct, frozen=True, gc=False):
    """Another server has stored a position of the device: the actor's memory of the last one is outdated."""


class GetCommandTypes(msgspec.Struct, Request[tuple[str, ...]], frozen=True, gc=False):
    """Return the command types of the device's protocol; only `custom` if the protocol is unknown."""


class GetSoundFormat(
    msgspec.Struct, Request[SoundFormat | CommandRefused | None], NodeLocal, frozen=True, gc=False
):
    """Return the coding of sound that the device supports, which is asked for if that is not known.

    None where it does not say so within `SOUND_FORMAT_SECONDS`.
    """


SOUND_FORMAT_SECONDS = 3.0


class SoundFormatOverdue(msgspec.Struct, frozen=True, gc=False):
    """The device actor's timer: the device has not said what sound it supports."""


class SetAccumulators(msgspec.Struct, Request[Position | None], frozen=True, gc=False):
    """Store the latest position again with these values; None leaves a value unchanged.

    Return the stored position after it was published, or None if the device has no position.
    """

    total_distance: float | None
    """Metres."""
    hours: float | None
    """Milliseconds."""


class CheckExpiration(msgspec.Struct, frozen=True, gc=False):
    """The device actor's timer: check whether the device has expired."""


class CheckRules(msgspec.Struct, NodeLocal, frozen=True, gc=False):
    """Something that the rules of devices are made of has changed: configure decoding by the present ones."""


class CheckStatus(msgspec.Struct, frozen=True, gc=False):
    """The tick of the actors of devices: check how long the device has been silent."""


DeviceMessage = (
    PositionReported
    | DeviceSeen
    | TellStored
    | Connected
    | Disconnected
    | AttachConnection
    | DetachConnection
    | Reported
    | AuthorizeAlarmUpload
    | AlarmFileStored
    | SendCommand
    | DeliverQueued
    | ConnectedElsewhere
    | StoredElsewhere
    | GetCommandTypes
    | GetSoundFormat
    | SoundFormatOverdue
    | DeviceChanged
    | PositionsDeleted
    | SetAccumulators
    | CheckExpiration
    | CheckRules
    | CheckStatus
    | Arrived
)
DEVICE: Kind[int, DeviceMessage] = Kind("device")

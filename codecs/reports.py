"""What devices say and are told, whatever the protocol.

All are values: frozen, compared by content, safe to hand from actor to actor.
Times are aware UTC datetimes; units stand at each field. A `receipt` is the codec's own note of what it
must answer; it is opaque to everybody else and goes back through `DeviceCodec.acknowledge`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from motorpool.codecs.channel_map import UNMAPPED, ChannelMap

Receipt = int | bytes | str
"""The codec's own note about a message to be answered."""


ALARM_LABEL = "alarmLabel"
"""The attribute of a position that names alarms of which the device keeps files: an opaque word for each,
separated by commas."""


REQUEST_ALARM_FILES = "alarmFiles"
"""The type of the order by which the server asks for such files: attribute `label`. No command of the API."""


class Login(msgspec.Struct, frozen=True, gc=False):
    """The peer says who it is. The connection answers with `acknowledge` or `refuse`.

    A codec reports it before the first other message of a peer, and again whenever the identity changes.
    """

    unique_ids: tuple[str, ...]
    """Ways to write the identity, the exact one first: ("013912345678", "13912345678")."""
    receipt: Receipt | None = None
    """None where the protocol sends no separate answer to a login."""
    attributes: Mapping[str, Any] = {}
    """What the login tells of the device: `model`, `iccid`, `plate`, `versionFw` and the like."""


class Heartbeat(msgspec.Struct, frozen=True, gc=False):
    """The peer is there; nothing else is known."""

    receipt: Receipt | None = None


class PositionReport(msgspec.Struct, frozen=True, gc=False):
    """One position as the device tells it; the device actor makes a Position of it."""

    attributes: dict[str, Any]
    """Canonical keys of docs/protocols/common.md#attribute-keys."""
    device_time: datetime | None = None
    """The device's clock; None where it sent none: server time then."""
    fix_time: datetime | None = None
    """Time of the fix; None with `located`: `device_time`."""
    located: bool = True
    """False: a message without coordinates takes over the device's last known location."""
    valid: bool = False
    """The receiver had a fix."""
    latitude: float = 0.0
    """Degrees, north positive."""
    longitude: float = 0.0
    """Degrees, east positive."""
    altitude: float = 0.0
    """Metres."""
    speed: float = 0.0
    """Knots over ground."""
    course: float = 0.0
    """Degrees from north, clockwise, 0 to 360."""
    accuracy: float = 0.0
    """Metres, 0 where unknown."""
    network: Mapping[str, Any] | None = None
    """Cells and access points, shaped as the API's `network`."""
    archived: bool = False
    """Sent from the device's memory: never moves the latest position backwards."""
    receipt: Receipt | None = None
    """To be acknowledged once this and all earlier reports of the connection are stored."""


class CommandResult(msgspec.Struct, frozen=True, gc=False):
    """The device's answer to a command."""

    reference: int | None
    """`EncodedCommand.reference` of the command, None where the protocol has no such link."""
    ok: bool
    text: str = ""
    """The answer in words, for the position attribute `result`."""
    receipt: Receipt | None = None


class MediaFile(msgspec.Struct, frozen=True, gc=False):
    """A file that the device uploaded in one message: a photo, a sound, a film."""

    kind: str
    """"image", "audio" or "video": the position attribute that names the file."""
    extension: str
    """Of the file, without the dot: "jpg"."""
    content: bytes
    channel: int = 0
    """Camera, from 1; 0 where unknown."""
    position: PositionReport | None = None
    """Where it was taken, if the device says so."""
    receipt: Receipt | None = None


class AlarmFilesAnnounced(msgspec.Struct, frozen=True, gc=False):
    """The device is about to upload the files of an alarm, mostly on a connection made for that.

    Such a connection says who it is by this alone; it does not take the place of the device's other one.
    """

    unique_ids: tuple[str, ...]
    """As in `Login`."""
    label: str
    """Tells the alarm, hex digits: what the attribute `alarmLabel` of its position says."""
    key: str
    """The beginning of the label, which is the same in all messages about the alarm."""
    is_ours: bool
    """It repeats the number under which we ask for the files of this alarm."""
    files: int
    """How many."""
    receipt: Receipt | None = None


class FileUploadStarted(msgspec.Struct, frozen=True, gc=False):
    """Pieces of this file come next."""

    name: str
    """The device's own; never a path."""
    size: int
    """Bytes."""
    receipt: Receipt | None = None


class FileChunk(msgspec.Struct, frozen=True, gc=False):
    """Some bytes of a file that was begun, within its size."""

    name: str
    offset: int
    content: bytes


class FileUploadCompleted(msgspec.Struct, frozen=True, gc=False):
    """Every byte of the file has come."""

    name: str
    kind: str
    """"image", "audio", "video" or "file": the position attribute that names it."""
    extension: str
    """Of the file, without the dot."""
    size: int
    """Bytes."""
    channel: int = 0
    """Camera; 0 where unknown."""
    receipt: Receipt | None = None


class Recording(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of a device's list, with the fields of the specification."""

    channel: int
    start_time: datetime
    end_time: datetime
    alarm_flag: int
    type: int
    """0 audio and video, 1 audio, 2 video."""
    stream_type: int
    """1 main stream, 2 sub-stream."""
    memory_type: int
    """1 primary memory, 2 backup memory."""
    size: int
    """Bytes."""


class RecordingList(msgspec.Struct, frozen=True, gc=False):
    """The device's complete answer to a query for recordings."""

    reference: int | None
    """`EncodedCommand.reference` of the query as the device repeats it."""
    recordings: tuple[Recording, ...]
    receipt: Receipt | None = None


class DeviceInformation(msgspec.Struct, frozen=True, gc=False):
    """What a device tells of itself outside a position: parameters, capabilities, passenger counts."""

    attributes: dict[str, Any]
    reference: int | None = None
    receipt: Receipt | None = None


class Logout(msgspec.Struct, frozen=True, gc=False):
    """The device signs off."""

    receipt: Receipt | None = None


class ImmediateReply(msgspec.Struct, frozen=True, gc=False):
    """Bytes to be sent at once, whoever the peer is: an answer that depends on nothing."""

    data: bytes


class FrameRejected(msgspec.Struct, frozen=True, gc=False):
    """Bytes that were dropped, and why; the stream goes on behind them."""

    error: str
    frame: bytes
    """The dropped bytes, at most the first 256."""


UploadReport = AlarmFilesAnnounced | FileUploadStarted | FileChunk | FileUploadCompleted
"""The messages by which a device uploads the files of an alarm."""

Report = (
    Login
    | Heartbeat
    | PositionReport
    | CommandResult
    | MediaFile
    | AlarmFilesAnnounced
    | FileUploadStarted
    | FileChunk
    | FileUploadCompleted
    | RecordingList
    | DeviceInformation
    | Logout
    | ImmediateReply
    | FrameRejected
)


class MediaAddress(msgspec.Struct, frozen=True, gc=False):
    """Where a device is told to send its media."""

    host: str
    """Numeric IPv4 where possible: many terminals resolve no names."""
    live_port: int
    playback_port: int
    upload_port: int = 0
    """Of files that belong to alarms: the protocol's own port."""


class DeviceCommand(msgspec.Struct, frozen=True, gc=False):
    """A command to be encoded for one device."""

    type: str
    """A command type of the API: "engineStop", "videoStart", "custom"."""
    attributes: Mapping[str, Any] = {}
    unique_id: str = ""
    media: MediaAddress | None = None
    """Needed by the commands that make the device open a media connection."""
    channels: ChannelMap = UNMAPPED
    """What the device calls our channels."""


class EncodedCommand(msgspec.Struct, frozen=True, gc=False):
    """A command as bytes."""

    data: bytes
    reference: int | None = None
    """What the device will repeat in its answer, if the protocol has such a link."""

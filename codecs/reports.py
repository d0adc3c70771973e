"""The reports that codecs decode and the commands that they encode, the same for all protocols.

All are immutable values. Times are aware UTC datetimes. A `receipt` is opaque to all but the codec, which
gets it back through `DeviceCodec.acknowledge` or `refuse`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from motorpool.codecs.channel_map import UNMAPPED, ChannelMap

Receipt = int | bytes | str
"""Identifies a message that the device expects to be answered; its content is private to the codec."""

ALARM_LABEL = "alarmLabel"
"""The position attribute that lists the alarms with files on the device: opaque labels, comma-separated."""

REQUEST_ALARM_FILES = "alarmFiles"
"""The command type that requests these files, with attribute `label`. It is not available in the API."""
REQUEST_SOUND_FORMAT = "soundFormat"
"""The command type that asks for a `SoundFormat`; not available in the API either."""


class Secret(msgspec.Struct, frozen=True, gc=False):
    """What proves who somebody is; no log and no error shows it."""

    text: str

    def __repr__(self) -> str:
        """Show that there is one."""
        return "Secret()"


class Login(msgspec.Struct, frozen=True, gc=False):
    """The peer identifies itself. The connection answers with `acknowledge` or `refuse`.

    A codec reports it before the first other message of a peer, and again whenever the identity changes.
    """

    unique_ids: tuple[str, ...]
    """Spellings of the identity, the exact one first: ("013912345678", "13912345678")."""
    receipt: Receipt | None = None
    """None if the protocol has no separate answer to a login."""
    attributes: Mapping[str, Any] = {}
    """Data of the device in the login, such as `model`, `iccid`, `plate` or `versionFw`."""
    secret: Secret | None = None
    """What the peer proves by that it is the device; None: nothing is in this message."""
    wants_code: bool = False
    """Whether the peer registers: the answer holds the code by which it logs in from then on."""


class Heartbeat(msgspec.Struct, frozen=True, gc=False):
    """The peer is connected; the message has no other content."""

    receipt: Receipt | None = None


class PositionReport(msgspec.Struct, frozen=True, gc=False):
    """One position as the device reports it; the device actor makes a `Position` of it."""

    attributes: dict[str, Any]
    """Keys of docs/attributes.md."""
    device_time: datetime | None = None
    """Time of the device's clock; None if it sent none, which stands for server time."""
    fix_time: datetime | None = None
    """Time of the fix; None stands for `device_time` if `located`."""
    located: bool = True
    """False for a message without coordinates, which takes over the last known location."""
    valid: bool = False
    """Whether the receiver had a fix."""
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
    """Metres; 0 if unknown."""
    network: Mapping[str, Any] | None = None
    """Cells and access points, in the form of the API's `network`."""
    archived: bool = False
    """Whether it was sent from the device's memory: such a report never replaces a newer latest position."""
    receipt: Receipt | None = None
    """Acknowledged once this and all earlier reports of the connection are stored."""


class CommandResult(msgspec.Struct, frozen=True, gc=False):
    """The device's answer to a command."""

    reference: int | None
    """`EncodedCommand.reference` of the command; None if the protocol has none."""
    ok: bool
    text: str = ""
    """Text of the answer, for the position attribute `result`."""
    receipt: Receipt | None = None


class MediaFile(msgspec.Struct, frozen=True, gc=False):
    """A file that the device uploaded in one message: an image, audio or video."""

    kind: str
    """"image", "audio" or "video": the position attribute that names the file."""
    extension: str
    """File name extension without the dot: "jpg"."""
    content: bytes
    channel: int = 0
    """Number of the camera, from 1; 0 if unknown."""
    position: PositionReport | None = None
    """Position at which it was recorded, if the device sent it."""
    receipt: Receipt | None = None


class AlarmFilesAnnounced(msgspec.Struct, frozen=True, gc=False):
    """The device is about to upload the files of an alarm, mostly on a connection made for that.

    Such a connection identifies the device only by this message, and does not replace its main connection.
    """

    unique_ids: tuple[str, ...]
    """As in `Login`."""
    label: str
    """Identifies the alarm, in hex digits, as the attribute `alarmLabel` of its position does."""
    key: str
    """The prefix of the label that is the same in all messages about the alarm."""
    is_ours: bool
    """Whether it repeats the number with which this server requests the files of this alarm, and which
    nobody can guess."""
    files: int
    """Number of files."""
    receipt: Receipt | None = None


class FileUploadStarted(msgspec.Struct, frozen=True, gc=False):
    """Chunks of this file follow."""

    name: str
    """File name chosen by the device; never a path."""
    size: int
    """Bytes."""
    receipt: Receipt | None = None


class FileChunk(msgspec.Struct, frozen=True, gc=False):
    """Some bytes of a started file, within its size."""

    name: str
    offset: int
    content: bytes


class FileUploadCompleted(msgspec.Struct, frozen=True, gc=False):
    """The file was received completely."""

    name: str
    kind: str
    """"image", "audio", "video" or "file": the position attribute that names it."""
    extension: str
    """File name extension without the dot."""
    size: int
    """Bytes."""
    channel: int = 0
    """Number of the camera; 0 if unknown."""
    receipt: Receipt | None = None


class Recording(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One entry of a device's list of recordings, with the fields of the API."""

    channel: int
    start_time: datetime
    """Where it begins."""
    end_time: datetime
    """Where it ends."""
    alarm_flag: int
    """Alarm bits, as the device tells them."""
    type: int
    """0 audio and video, 1 audio, 2 video."""
    stream_type: int
    """1 main stream, 2 sub-stream."""
    memory_type: int
    """1 primary memory, 2 backup memory."""
    size: int
    """Bytes."""


class RecordingList(msgspec.Struct, frozen=True, gc=False):
    """The complete list of recordings with which the device answered a query."""

    reference: int | None
    """`EncodedCommand.reference` of the query; None if the device did not answer a query."""
    recordings: tuple[Recording, ...]
    receipt: Receipt | None = None


class DeviceInformation(msgspec.Struct, frozen=True, gc=False):
    """Data that the device sent without a position: parameters, capabilities, passenger counts."""

    attributes: dict[str, Any]
    reference: int | None = None
    receipt: Receipt | None = None


class SoundFormat(msgspec.Struct, frozen=True, gc=False):
    """The coding of sound that the device supports, which it was asked for."""

    payload_type: int
    """As in JT/T 1078-2016, table 12."""
    frame_bytes: int
    """Bytes of a coded packet; 0 where it does not say."""


class UnknownMessage(msgspec.Struct, frozen=True, gc=False):
    """A well-formed message that the codec does not know: kept as a position attribute where that is
    configured, else noted like a `Heartbeat`.
    """

    content: bytes
    """The whole frame."""
    kind: str = ""
    """The protocol's name for it, such as a message number or name; empty if there is none."""
    receipt: Receipt | None = None


class Logout(msgspec.Struct, frozen=True, gc=False):
    """The device logs out."""

    receipt: Receipt | None = None


class ImmediateReply(msgspec.Struct, frozen=True, gc=False):
    """An answer that is sent at once, also to an unidentified peer."""

    data: bytes


class FrameRejected(msgspec.Struct, frozen=True, gc=False):
    """Invalid bytes that were dropped; decoding continues after them."""

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
    | UploadReport
    | RecordingList
    | DeviceInformation
    | SoundFormat
    | UnknownMessage
    | Logout
    | ImmediateReply
    | FrameRejected
)


class MediaAddress(msgspec.Struct, frozen=True, gc=False):
    """The address to which devices send media."""

    host: str
    """Preferably a numeric IPv4 address: many terminals cannot resolve names."""
    live_port: int
    playback_port: int
    upload_port: int = 0
    """Port for alarm files: the port of the device protocol."""
    talk_port: int = 0
    """Port for sound in both directions."""


class DeviceCommand(msgspec.Struct, frozen=True, gc=False):
    """A command to be encoded for one device."""

    type: str
    """A command type of the API: "engineStop", "videoStart", "custom"."""
    attributes: Mapping[str, Any] = {}
    unique_id: str = ""
    media: MediaAddress | None = None
    """Required by the commands that make the device open a media connection."""
    channels: ChannelMap = UNMAPPED
    """The device's numbers of the channels."""


class EncodedCommand(msgspec.Struct, frozen=True, gc=False):
    """An encoded command."""

    data: bytes
    reference: int | None = None
    """The number that the device repeats in its answer, if the protocol has one."""

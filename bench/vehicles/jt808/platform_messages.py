"""The messages of a platform, as a JT/T 808 terminal reads them (docs/protocols/jt808.md)."""

from datetime import UTC, datetime

import msgspec

from motorpool.codecs.devices.jt808.alarm_labels import NUMBER_BYTES
from motorpool.codecs.devices.jt808.frames import Frame
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.parameters import read_parameters
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.reader import ByteReader


class PlatformMessage(msgspec.Struct, frozen=True, gc=False):
    """A message from the platform; of this class itself where its id has no class of its own."""

    message_id: int
    serial: int
    """Repeated in the terminal's response."""
    body: bytes


class GeneralResponse(PlatformMessage, frozen=True, gc=False):
    """0x8001: the general response."""

    answered_serial: int
    answered_id: int
    result: int
    """0 done, 1 failed, 2 bad message, 3 not supported, 4 alarm confirmed."""


class RegistrationResponse(PlatformMessage, frozen=True, gc=False):
    """0x8100: the response to a registration."""

    answered_serial: int
    result: int
    """0 accepted."""
    code: str
    """The authentication code; empty unless accepted."""


class MediaUploadResponse(PlatformMessage, frozen=True, gc=False):
    """0x8800: the response to an uploaded file."""

    media_id: int
    missing: tuple[int, ...]
    """Packets to be sent again; empty: complete."""


class ResendRequest(PlatformMessage, frozen=True, gc=False):
    """0x8003: a request for missing packets."""

    first_serial: int
    """Serial of the message's first packet."""
    indexes: tuple[int, ...]
    """Missing packets, from 1."""


class TimeResponse(PlatformMessage, frozen=True, gc=False):
    """0x8004: the time."""

    time: datetime | None
    """UTC."""


class SetParameters(PlatformMessage, frozen=True, gc=False):
    """0x8103: parameters to be set."""

    parameters: Attributes
    """By the names of `parameters.py`."""


class TerminalControl(PlatformMessage, frozen=True, gc=False):
    """0x8105: power off, reset and others."""

    command: int
    parameters: str


class TemporaryTracking(PlatformMessage, frozen=True, gc=False):
    """0x8202: report at another interval for a while; interval 0 ends it."""

    interval_seconds: int
    duration_seconds: int


class TextMessage(PlatformMessage, frozen=True, gc=False):
    """0x8300: a text for the driver."""

    flags: int
    text: str


class PhotoRequest(PlatformMessage, frozen=True, gc=False):
    """0x8801: a request for photos."""

    channel: int
    count: int


class LiveVideoRequest(PlatformMessage, frozen=True, gc=False):
    """0x9101: a request to connect and send live video."""

    host: str
    tcp_port: int
    udp_port: int
    channel: int
    data_type: int
    stream_type: int


class LiveVideoControl(PlatformMessage, frozen=True, gc=False):
    """0x9102: control of live video; control 0 ends it."""

    channel: int
    control: int
    close_type: int
    stream_type: int


class RecordingListQuery(PlatformMessage, frozen=True, gc=False):
    """0x9205: a query for recordings."""

    channel: int
    """0: all channels."""
    start_time: datetime | None
    end_time: datetime | None
    alarm_flag: int
    data_type: int
    stream_type: int
    memory_type: int


class PlaybackRequest(PlatformMessage, frozen=True, gc=False):
    """0x9201: a request to connect and send a recording."""

    host: str
    tcp_port: int
    udp_port: int
    channel: int
    data_type: int
    stream_type: int
    memory_type: int
    method: int
    speed: int
    """0 none, 1 to 5: x1, x2, x4, x8, x16."""
    start_time: datetime | None
    end_time: datetime | None


class PlaybackControl(PlatformMessage, frozen=True, gc=False):
    """0x9202: pause, resume, seek or end a playback."""

    channel: int
    control: int
    speed: int
    time: datetime | None


class AttachmentRequest(PlatformMessage, frozen=True, gc=False):
    """0x9208: a request to connect and upload the files of an alarm."""

    host: str
    tcp_port: int
    udp_port: int
    label: bytes
    number: str
    """The platform's number of the alarm."""


class FileEndResponse(PlatformMessage, frozen=True, gc=False):
    """0x9212: the response to the end of a file."""

    name: bytes
    kind: int
    missing: tuple[tuple[int, int], ...]
    """Offset and length of each missing range, bytes; empty: complete."""


def parse_platform_message(frame: Frame, clock: TerminalClock) -> PlatformMessage:
    """Read one message from the platform.

    Raises:
        Truncated: the body is too short.
    """
    body = frame.body
    common = frame.message_id, frame.serial, body
    fields = ByteReader(body)
    byte, word, double = fields.uint8, fields.uint16, fields.uint32
    match frame.message_id:
        case 0x8001:
            return GeneralResponse(*common, word(), word(), byte())
        case 0x8100:
            serial, result = word(), byte()
            return RegistrationResponse(*common, serial, result, fields.rest().decode("gbk", "replace"))
        case 0x8800:
            media_id = double()
            count = byte() if fields.remaining else 0
            return MediaUploadResponse(*common, media_id, tuple(word() for _ in range(count)))
        case 0x8003:
            serial, count = word(), word() if frame.is_2019 else byte()
            return ResendRequest(*common, serial, tuple(word() for _ in range(count)))
        case 0x8004:
            return TimeResponse(*common, TerminalClock(UTC).read(fields.take(6)))
        case 0x8103:
            byte()  # the count; the list fills the rest of the body
            return SetParameters(*common, read_parameters(fields))
        case 0x8105:
            return TerminalControl(*common, byte(), fields.rest().decode("gbk", "replace"))
        case 0x8202:
            interval = word()
            return TemporaryTracking(*common, interval, double() if interval or fields.remaining else 0)
        case 0x8300:
            flags = byte()
            if frame.is_2019:
                byte()  # notice or service
            return TextMessage(*common, flags, fields.rest().decode("gbk", "replace"))
        case 0x8801:
            return PhotoRequest(*common, byte(), word())
        case 0x9101:
            host = fields.take(byte()).decode("gbk", "replace")
            return LiveVideoRequest(*common, host, word(), word(), byte(), byte(), byte())
        case 0x9102:
            return LiveVideoControl(*common, byte(), byte(), byte(), byte())
        case 0x9208:
            host = fields.take(byte()).decode("gbk", "replace")
            tcp_port, udp_port = word(), word()
            label = fields.take(fields.remaining - NUMBER_BYTES - 16)
            return AttachmentRequest(
                *common, host, tcp_port, udp_port, label, fields.take(NUMBER_BYTES).decode()
            )
        case 0x9212:
            name, kind = fields.take(byte()), byte()
            byte()  # complete or not, as the ranges show
            return FileEndResponse(*common, name, kind, tuple((double(), double()) for _ in range(byte())))
        case 0x9205:
            channel, start, end = byte(), clock.read(fields.take(6)), clock.read(fields.take(6))
            return RecordingListQuery(*common, channel, start, end, fields.uint64(), byte(), byte(), byte())
        case 0x9201:
            host = fields.take(byte()).decode("gbk", "replace")
            ports_to_speed = word(), word(), byte(), byte(), byte(), byte(), byte(), byte()
            return PlaybackRequest(
                *common, host, *ports_to_speed, clock.read(fields.take(6)), clock.read(fields.take(6))
            )
        case 0x9202:
            return PlaybackControl(*common, byte(), byte(), byte(), clock.read(fields.take(6)))
        case _:
            return PlatformMessage(*common)

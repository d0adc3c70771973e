"""What a platform sends, as a JT/T 808 terminal reads it (docs/protocols/jt808.md)."""

from datetime import UTC, datetime

import msgspec

from motorpool.codecs.devices.jt808.alarm_labels import NUMBER_BYTES
from motorpool.codecs.devices.jt808.frames import Frame
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.parameters import read_parameters
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.reader import ByteReader


class PlatformMessage(msgspec.Struct, frozen=True, gc=False):
    """Any message from the platform; this very class where the id has no class of its own."""

    message_id: int
    serial: int
    """To be repeated in `Terminal.answer`."""
    body: bytes


class GeneralResponse(PlatformMessage, frozen=True, gc=False):
    """0x8001: the general answer."""

    answered_serial: int
    answered_id: int
    result: int
    """0 done, 1 failed, 2 bad message, 3 not supported, 4 alarm confirmed."""


class RegistrationResponse(PlatformMessage, frozen=True, gc=False):
    """0x8100: the answer to a registration."""

    answered_serial: int
    result: int
    """0 accepted; else no code."""
    code: str


class MediaUploadResponse(PlatformMessage, frozen=True, gc=False):
    """0x8800: the answer to an upload."""

    media_id: int
    missing: tuple[int, ...]
    """Packets to be sent again; none: complete."""


class ResendRequest(PlatformMessage, frozen=True, gc=False):
    """0x8003: packets are missing."""

    first_serial: int
    indexes: tuple[int, ...]


class TimeResponse(PlatformMessage, frozen=True, gc=False):
    """0x8004: the time."""

    time: datetime | None


class SetParameters(PlatformMessage, frozen=True, gc=False):
    """0x8103: new settings."""

    parameters: Attributes
    """Named as in `jt808_parameters`."""


class TerminalControl(PlatformMessage, frozen=True, gc=False):
    """0x8105: power off, reset and the like."""

    command: int
    parameters: str


class TemporaryTracking(PlatformMessage, frozen=True, gc=False):
    """0x8202: report more often for a while; 0 ends it."""

    interval_seconds: int
    duration_seconds: int


class TextMessage(PlatformMessage, frozen=True, gc=False):
    """0x8300: words for the driver."""

    flags: int
    text: str


class PhotoRequest(PlatformMessage, frozen=True, gc=False):
    """0x8801: take pictures."""

    channel: int
    count: int


class LiveVideoRequest(PlatformMessage, frozen=True, gc=False):
    """0x9101: connect and send live media."""

    host: str
    tcp_port: int
    udp_port: int
    channel: int
    data_type: int
    stream_type: int


class LiveVideoControl(PlatformMessage, frozen=True, gc=False):
    """0x9102: control 0 ends the live media."""

    channel: int
    control: int
    close_type: int
    stream_type: int


class RecordingListQuery(PlatformMessage, frozen=True, gc=False):
    """0x9205: list recordings."""

    channel: int
    """0: all."""
    start_time: datetime | None
    end_time: datetime | None
    alarm_flag: int
    data_type: int
    stream_type: int
    memory_type: int


class PlaybackRequest(PlatformMessage, frozen=True, gc=False):
    """0x9201: connect and send a recording."""

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
    """0x9202: pause, resume, end, seek."""

    channel: int
    control: int
    speed: int
    time: datetime | None


class AttachmentRequest(PlatformMessage, frozen=True, gc=False):
    """0x9208: connect and upload the files of an alarm."""

    host: str
    tcp_port: int
    udp_port: int
    label: bytes
    number: str
    """The platform's own of the alarm."""


class FileEndResponse(PlatformMessage, frozen=True, gc=False):
    """0x9212: a file has come."""

    name: bytes
    kind: int
    missing: tuple[tuple[int, int], ...]
    """Offset and length of what is to be sent again; none: it is whole."""


def parse_platform_message(frame: Frame, clock: TerminalClock) -> PlatformMessage:
    """One message from the platform.

    Raises:
        Truncated: the body ends before its fields do.
    """
    body = frame.body
    head = frame.message_id, frame.serial, body
    fields = ByteReader(body)
    byte, word, double = fields.uint8, fields.uint16, fields.uint32
    match frame.message_id:
        case 0x8001:
            return GeneralResponse(*head, word(), word(), byte())
        case 0x8100:
            serial, result = word(), byte()
            return RegistrationResponse(*head, serial, result, fields.rest().decode("gbk", "replace"))
        case 0x8800:
            media_id = double()
            count = byte() if fields.remaining else 0
            return MediaUploadResponse(*head, media_id, tuple(word() for _ in range(count)))
        case 0x8003:
            serial, count = word(), word() if frame.is_2019 else byte()
            return ResendRequest(*head, serial, tuple(word() for _ in range(count)))
        case 0x8004:
            return TimeResponse(*head, TerminalClock(UTC).read(fields.take(6)))
        case 0x8103:
            byte()  # the count; the list goes on to the end
            return SetParameters(*head, read_parameters(fields))
        case 0x8105:
            return TerminalControl(*head, byte(), fields.rest().decode("gbk", "replace"))
        case 0x8202:
            interval = word()
            return TemporaryTracking(*head, interval, double() if interval or fields.remaining else 0)
        case 0x8300:
            flags = byte()
            if frame.is_2019:
                byte()  # notice or service
            return TextMessage(*head, flags, fields.rest().decode("gbk", "replace"))
        case 0x8801:
            return PhotoRequest(*head, byte(), word())
        case 0x9101:
            host = fields.take(byte()).decode("gbk", "replace")
            return LiveVideoRequest(*head, host, word(), word(), byte(), byte(), byte())
        case 0x9102:
            return LiveVideoControl(*head, byte(), byte(), byte(), byte())
        case 0x9208:
            host = fields.take(byte()).decode("gbk", "replace")
            tcp_port, udp_port = word(), word()
            label = fields.take(fields.remaining - NUMBER_BYTES - 16)
            return AttachmentRequest(
                *head, host, tcp_port, udp_port, label, fields.take(NUMBER_BYTES).decode()
            )
        case 0x9212:
            name, kind = fields.take(byte()), byte()
            byte()  # whole or not, which the ranges tell as well
            return FileEndResponse(*head, name, kind, tuple((double(), double()) for _ in range(byte())))
        case 0x9205:
            channel, start, end = byte(), clock.read(fields.take(6)), clock.read(fields.take(6))
            return RecordingListQuery(*head, channel, start, end, fields.uint64(), byte(), byte(), byte())
        case 0x9201:
            host = fields.take(byte()).decode("gbk", "replace")
            ports_to_speed = word(), word(), byte(), byte(), byte(), byte(), byte(), byte()
            return PlaybackRequest(
                *head, host, *ports_to_speed, clock.read(fields.take(6)), clock.read(fields.take(6))
            )
        case 0x9202:
            return PlaybackControl(*head, byte(), byte(), byte(), clock.read(fields.take(6)))
        case _:
            return PlatformMessage(*head)

"""Video commands of JT/T 1078 as bodies of JT/T 808 messages.

Messages: docs/protocols/jt808.md#video-requests; attributes: docs/decisions/0023.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from struct import pack
from typing import Any

import msgspec

from motorpool.codecs.channel_map import MAX_CHANNEL
from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.jt808.times import NO_TIME, TerminalClock
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand, MediaAddress

LIVE_REQUEST = 0x9101
LIVE_CONTROL = 0x9102
PLAYBACK_REQUEST = 0x9201
PLAYBACK_CONTROL = 0x9202
LIST_QUERY = 0x9205

TALK = 2
"""Data type of sound both ways."""
_CLOSE, _CLOSE_TALK = 0, 4

EARLIEST_TIME = datetime.min.replace(tzinfo=UTC)
QUERY_SPAN = timedelta(hours=24)
"""Span of a list query without a start; many terminals answer no longer one."""

CONTROLS = {
    "start": 0,
    "resume": 0,
    "pause": 1,
    "stop": 2,
    "forward": 3,
    "fast": 3,
    "rewind": 4,
    "seek": 5,
    "keyframes": 6,
}
_SPEEDS = {1: 1, 2: 2, 4: 3, 8: 4, 16: 5}


class VideoContext(msgspec.Struct, frozen=True):
    """The context needed to encode a video command."""

    clock: TerminalClock
    utc_now: Callable[[], datetime] | None
    """The wall clock; None where the connection has set none."""


def channel(command: DeviceCommand, default: int = 1, low: int = 1) -> int:
    """Return the device's number of the attribute `channel`, else `index`; 0 stands for all and stays 0."""
    attributes = command.attributes
    name = "channel" if "channel" in attributes or "index" not in attributes else "index"
    number = integer(attributes, name, default, low, MAX_CHANNEL)
    return command.channels.number_of(number) if number else 0


def live_request(command: DeviceCommand, _: VideoContext) -> bytes:
    """Return the body of 0x9101, a request for live video, or with `dataType` 2 for sound both ways."""
    address = _media(command)
    codes = bytes((channel(command),)) + _codes(command, dataType=5, streamType=1)
    return _address(address.host, address.talk_port if codes[1] == TALK else address.live_port) + codes


def live_stop(command: DeviceCommand, _: VideoContext) -> bytes:
    """Return the body of 0x9102 that ends live video, or with `dataType` 2 sound both ways."""
    (data_type,) = _codes(command, dataType=5)
    control = _CLOSE_TALK if data_type == TALK else _CLOSE
    return bytes((channel(command), control)) + _codes(command, closeType=2, streamType=1)


def list_query(command: DeviceCommand, context: VideoContext) -> bytes:
    """Return the body of 0x9205, a query for recordings: without times the last 24 hours."""
    attributes = command.attributes
    start, end = read_time(attributes, "startTime", "from"), read_time(attributes, "endTime", "to")
    if end is None and context.utc_now is not None:
        now = context.utc_now()
        end = now if start is None or start < now else None
    if start is None and end is not None:
        start = max(end, EARLIEST_TIME + QUERY_SPAN) - QUERY_SPAN
    alarm = integer(attributes, "alarmFlag", 0, 0, (1 << 64) - 1)
    return (
        bytes((channel(command, 0, 0),))
        + _span(start, end, context.clock)
        + pack(">QB", alarm, integer(attributes, "dataType", 3, 0, 3))
        + _codes(command, streamType=2, memoryType=2)
    )


def playback_request(command: DeviceCommand, context: VideoContext) -> bytes:
    """Return the body of 0x9201, a request for a playback."""
    attributes = command.attributes
    start = read_time(attributes, "startTime", "from")
    if start is None:
        raise UnsupportedCommand("startTime is required: the start of a recording, or a time inside it")
    address = _media(command)
    method = integer(attributes, "method", 0, 0, 4)
    return (
        _address(address.host, address.playback_port)
        + bytes((channel(command),))
        + _codes(command, dataType=3, streamType=2, memoryType=2)
        + bytes((method, _speed(attributes) if method in (1, 2) else 0))
        + _span(start, read_time(attributes, "endTime", "to"), context.clock)
    )


def playback_control(command: DeviceCommand, context: VideoContext) -> bytes:
    """Return the body of 0x9202, which controls a playback."""
    attributes = command.attributes
    name = attributes.get("control", "start")
    control = CONTROLS.get(name) if isinstance(name, str) else None
    if control is None:
        try:
            control = integer(attributes, "control", 0, 0, 6)
        except UnsupportedCommand:
            raise UnsupportedCommand(f"control must be 0 to 6 or one of {', '.join(CONTROLS)}") from None
    time = read_time(attributes, "time", "time")
    if control == 5 and time is None:
        raise UnsupportedCommand("time is required to seek")
    return pack("BBB", channel(command), control, _speed(attributes) if control in (3, 4) else 0) + (
        _stamp(time, context.clock) if control == 5 else NO_TIME
    )


def _codes(command: DeviceCommand, **most: int) -> bytes:
    """Return attributes that are numbers from 0 to `most`, a byte each; those that are not there are 0."""
    return bytes(integer(command.attributes, name, 0, 0, high) for name, high in most.items())


def _media(command: DeviceCommand) -> MediaAddress:
    if command.media is None or not command.media.host:
        raise UnsupportedCommand("the server knows no address of its own for the device's media")
    return command.media


def _address(host: str, port: int) -> bytes:
    text = host.encode("gbk", "replace")
    if len(text) > 255:
        raise UnsupportedCommand("the media address is longer than 255 bytes")
    return bytes((len(text),)) + text + pack(">HH", port, 0)


def _speed(attributes: Mapping[str, Any]) -> int:
    code = _SPEEDS.get(integer(attributes, "speed", 1, 1, 16))
    if code is None:
        raise UnsupportedCommand("speed must be 1, 2, 4, 8 or 16")
    return code


def read_time(attributes: Mapping[str, Any], name: str, short_name: str) -> datetime | None:
    """Return an instant among the attributes of a command, None where it is absent.

    Raises:
        UnsupportedCommand: it is no time with a zone.
    """
    value = attributes.get(name, attributes.get(short_name))
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UnsupportedCommand(f"{name} must be a time like 2026-05-01T10:00:00Z")
    return moment


def _span(start: datetime | None, end: datetime | None, clock: TerminalClock) -> bytes:
    if start is not None and end is not None and end <= start:
        raise UnsupportedCommand("endTime must be after startTime")
    return _stamp(start, clock) + _stamp(end, clock)


def _stamp(moment: datetime | None, clock: TerminalClock) -> bytes:
    if moment is None:
        return NO_TIME
    try:
        return clock.write(moment)
    except (ValueError, OverflowError):
        raise UnsupportedCommand("a JT/T 808 time lies between the years 2000 and 2099") from None

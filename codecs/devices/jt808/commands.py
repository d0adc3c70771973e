"""Commands of the API as JT/T 808 messages (docs/protocols/jt808.md#commands).

The attribute `data` of `custom` holds hex digits: message id WORD and body, to which the header is added, or
a whole frame from `7e` to `7e` or from `e7` to `e7`, which is sent as it is. To models that take texts
`vendors/commands.py` sends it as text.
"""

from collections.abc import Callable
from struct import pack

from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.jt808 import parameters, video_commands
from motorpool.codecs.devices.jt808.video_commands import VideoContext
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand

SET_PARAMETERS = 0x8103
QUERY_PARAMETERS = 0x8104
TERMINAL_CONTROL = 0x8105
QUERY_ATTRIBUTES = 0x8107
QUERY_POSITION = 0x8201
TRACK = 0x8202
TEXT = 0x8300
SHOOT = 0x8801

MAX_TEXT_BYTES = 1000
"""Text of one message in GBK: it fits one packet."""

Message = tuple[int, bytes]
"""Message id and body."""


def encode_command(command: DeviceCommand, context: VideoContext, *, is_2019: bool) -> Message:
    """Return message id and body of a command other than `custom`.

    Raises:
        UnsupportedCommand: unknown command, or wrong attributes.
    """
    fixed = _FIXED.get(command.type)
    if fixed is not None:
        return fixed
    write = _COMMANDS.get(command.type)
    if write is not None:
        return write(command)
    if command.type == "message":
        return TEXT, _text(command, is_2019=is_2019)
    video_message = _VIDEO_COMMANDS.get(command.type)
    if video_message is None:
        raise UnsupportedCommand(f"jt808 has no message for {command.type}")
    message_id, write_body = video_message
    return message_id, write_body(command, context)


def custom_bytes(command: DeviceCommand) -> bytes:
    """Return the bytes of a `custom` command's hex digits.

    Raises:
        UnsupportedCommand: not hex digits, or fewer than a message id.
    """
    try:
        content = bytes.fromhex(str(command.attributes.get("data", "")))
    except ValueError:
        content = b""
    if len(content) < 2:
        raise UnsupportedCommand(
            "data must be hex digits: message id and body, or a whole frame from 7e to 7e"
        )
    return content


def _periodic_positions(command: DeviceCommand) -> Message:
    """`frequency` in seconds, default 30; with `duration`, in seconds, for that long, else lasting."""
    seconds = integer(command.attributes, "frequency", 30, 1, 65535)
    if "duration" in command.attributes:
        return TRACK, pack(">HI", seconds, integer(command.attributes, "duration", 0, 1, (1 << 32) - 1))
    return SET_PARAMETERS, parameters.write_parameters({parameters.REPORT_SECONDS: seconds})


def _connection(command: DeviceCommand) -> Message:
    server = command.attributes.get("server")
    if not isinstance(server, str) or not server:
        raise UnsupportedCommand("server is required")
    port = integer(command.attributes, "port", 0, 1, 65535)
    return SET_PARAMETERS, parameters.write_parameters({parameters.SERVER: server, parameters.TCP_PORT: port})


def _odometer(command: DeviceCommand) -> Message:
    """`data` in metres."""
    metres = integer(command.attributes, "data", -1, 0, 100 * ((1 << 32) - 1))
    return SET_PARAMETERS, parameters.write_parameters({parameters.ODOMETER: metres // 100})


def _speed_limit(command: DeviceCommand) -> Message:
    """`data` in km/h."""
    return SET_PARAMETERS, parameters.write_parameters(
        {parameters.SPEED_LIMIT: integer(command.attributes, "data", -1, 0, 255)}
    )


def _configuration(command: DeviceCommand) -> Message:
    """`data` sets parameters as `parse_parameters` reads them; without it all are queried."""
    text = str(command.attributes.get("data", ""))
    if not text.strip():
        return QUERY_PARAMETERS, b""
    return SET_PARAMETERS, parameters.write_parameters(parameters.parse_parameters(text))


def _photo(command: DeviceCommand) -> Message:
    attributes = command.attributes
    return SHOOT, pack(
        ">BHHBBBBBBB",
        video_commands.channel(command),
        integer(attributes, "count", 1, 1, 0xFFFE),
        integer(attributes, "interval", 0, 0, 0xFFFF),
        0,  # upload now
        integer(attributes, "resolution", 2, 1, 8),  # 640 x 480
        integer(attributes, "quality", 5, 1, 10),
        128,  # brightness, contrast, saturation and chroma: the middle of their ranges
        64,
        64,
        128,
    )


def _text(command: DeviceCommand, *, is_2019: bool) -> bytes:
    """`flags` default to display and voice."""
    text = command.attributes.get("message")
    if not isinstance(text, str) or not text:
        raise UnsupportedCommand("message is required")
    content = text.encode("gbk", "replace")
    if len(content) > MAX_TEXT_BYTES:
        raise UnsupportedCommand(f"message is longer than {MAX_TEXT_BYTES} bytes in GBK")
    flags = integer(command.attributes, "flags", 0x0C, 0, 255)
    return (bytes((flags, 1)) if is_2019 else bytes((flags,))) + content  # 1: notice


_FIXED: dict[str, Message] = {
    "positionSingle": (QUERY_POSITION, b""),
    "positionStop": (TRACK, pack(">HI", 0, 0)),
    "powerOff": (TERMINAL_CONTROL, b"\x03"),
    "rebootDevice": (TERMINAL_CONTROL, b"\x04"),
    "factoryReset": (TERMINAL_CONTROL, b"\x05"),
    "getDeviceStatus": (QUERY_PARAMETERS, b""),
    "getVersion": (QUERY_ATTRIBUTES, b""),
    "deviceIdentification": (QUERY_ATTRIBUTES, b""),
}
_COMMANDS: dict[str, Callable[[DeviceCommand], Message]] = {
    "positionPeriodic": _periodic_positions,
    "setConnection": _connection,
    "setOdometer": _odometer,
    "setSpeedLimit": _speed_limit,
    "configuration": _configuration,
    "requestPhoto": _photo,
}
_VIDEO_COMMANDS: dict[str, tuple[int, Callable[[DeviceCommand, VideoContext], bytes]]] = {
    "videoStart": (video_commands.LIVE_REQUEST, video_commands.live_request),
    "videoStop": (video_commands.LIVE_CONTROL, video_commands.live_stop),
    "videoPlaybackList": (video_commands.LIST_QUERY, video_commands.list_query),
    "videoPlayback": (video_commands.PLAYBACK_REQUEST, video_commands.playback_request),
    "videoPlaybackControl": (video_commands.PLAYBACK_CONTROL, video_commands.playback_control),
}

COMMANDS = frozenset((*_FIXED, *_COMMANDS, *_VIDEO_COMMANDS, "custom", "message"))
"""The command types of the API that the standard has."""

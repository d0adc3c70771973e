"""Commands that small makers' trackers take in a message of their own
(docs/protocols/jt808-vendors.md#commands).
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from struct import pack
from typing import Any, Final

import msgspec

from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.jt808.alarm_labels import LABEL_FORMS
from motorpool.codecs.devices.jt808.commands import (
    MAX_TEXT_BYTES,
    SET_PARAMETERS,
    TERMINAL_CONTROL,
    TEXT,
    Message,
)
from motorpool.codecs.devices.jt808.frames import Identity
from motorpool.codecs.devices.jt808.parameters import write_parameters
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.vendors.models import Model
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import REQUEST_ALARM_FILES, DeviceCommand

PASS_THROUGH = 0x8900
OIL_CONTROL = 0xA006
ALTERNATIVE_PARAMETERS = 0x0310
"""The message that sets parameters of an old family, with entries of id BYTE, length BYTE and value."""

VENDOR_COMMANDS: Final = frozenset(("alarmArm", "alarmDisarm", "engineStop", "engineResume"))
"""Command types that are not in the standard."""

_AT_COMMAND = 0xF030
"""Parameter whose text the modem executes."""
_CONTENT_OF_COMMANDS = b"\xf0"
"""Kind of 0x8900 that holds the text of a command."""
_ENGINE_CODES: Final[Mapping[str, tuple[bytes, bytes]]] = {
    "64": (b"\x64", b"\x65"),
    "F0": (b"\xf0", b"\xf1"),
    "TEXT": (b"#0;1", b"#0;0"),
    "HOL": (b"\x90\x01" + bytes(10), b"\x91\x01" + bytes(10)),
}
"""Bodies of 0x8105 that stop and start the engine."""
_TEXT_FORMS = frozenset(("hex", "parameter", "message", "control"))


class CommandTarget(msgspec.Struct, frozen=True):
    """The device that a command is encoded for."""

    model: Model
    options: Mapping[str, Any]
    """The device's attributes `jt808.…`."""
    password: str
    identity: Identity
    clock: TerminalClock
    utc_now: Callable[[], datetime] | None

    @property
    def is_alternative(self) -> bool:
        """Whether it is of the old family with messages of its own."""
        return str(self.options.get("alternative", "")).lower() in ("true", "1")


def vendor_message(command: DeviceCommand, target: CommandTarget) -> Message | None:
    """Return message id and body of a command; None where the standard's is to be sent.

    Raises:
        UnsupportedCommand: an attribute of the command or of the device cannot be encoded.
    """
    match command.type:
        case "engineStop" | "engineResume":
            return _engine(target, stops=command.type == "engineStop")
        case "alarmArm" | "alarmDisarm":
            return _arming(target, arms=command.type == "alarmArm")
        case "rebootDevice" if target.is_alternative:
            return ALTERNATIVE_PARAMETERS, b"\x01\x23\x01\x03"
        case "positionPeriodic" if target.is_alternative:
            seconds = integer(command.attributes, "frequency", 30, 1, 65535)
            return ALTERNATIVE_PARAMETERS, b"\x01\x06\x04" + pack(">I", seconds)
        case "custom":
            return _text(command, target)
        case command_type if command_type == REQUEST_ALARM_FILES and target.model.has_e8_blocks:
            return PASS_THROUGH, _CONTENT_OF_COMMANDS + _upload_text(command)
        case _:
            return None


def is_frame(content: bytes) -> bool:
    """Whether these are the bytes of a whole frame, with its delimiters."""
    return len(content) > 2 and content[:1] == content[-1:] and content[:1] in (b"~", b"\xe7")


def _engine(target: CommandTarget, *, stops: bool) -> Message:
    if target.identity.is_e7 or target.is_alternative:
        if target.utc_now is None:
            raise UnsupportedCommand("the command holds the time, which is not known")
        return OIL_CONTROL, bytes((stops,)) + target.clock.write(target.utc_now())
    wanted = str(target.options.get("engine") or target.model.engine).upper()
    codes = _ENGINE_CODES.get(wanted)
    if codes is None:
        raise UnsupportedCommand("the device's attribute jt808.engine must be 64, F0, text or HOL")
    return TERMINAL_CONTROL, codes[0 if stops else 1]


def _arming(target: CommandTarget, *, arms: bool) -> Message:
    if target.is_alternative:
        return ALTERNATIVE_PARAMETERS, b"\x01\x24\x05" + bytes((arms,)) + b"user"
    return TERMINAL_CONTROL, bytes((target.model.arm_codes[0 if arms else 1],))


def _text(command: DeviceCommand, target: CommandTarget) -> Message | None:
    form = str(target.options.get("custom") or target.model.texts)
    if form not in _TEXT_FORMS:
        raise UnsupportedCommand(
            "the device's attribute jt808.custom must be hex, parameter, message or control"
        )
    text = str(command.attributes.get("data", ""))
    if form == "hex" or _is_hex_frame(text):
        return None
    if not text:
        raise UnsupportedCommand("data is required: the text of the command")
    if form == "message":
        if target.model.wraps_texts and target.password and not text.startswith("<"):
            text = f"<SPBSJ*P:{target.password}*{text}>"
        flags = bytes((target.model.text_flags, 1) if target.identity.is_2019 else (target.model.text_flags,))
        return TEXT, flags + _encode(text, "gbk", MAX_TEXT_BYTES)
    content = _encode(text, "ascii", 255 if form == "parameter" else MAX_TEXT_BYTES)
    if form == "parameter":
        return SET_PARAMETERS, write_parameters({_AT_COMMAND: content})
    return PASS_THROUGH, _CONTENT_OF_COMMANDS + content


def _is_hex_frame(text: str) -> bool:
    try:
        return is_frame(bytes.fromhex(text))
    except ValueError:
        return False


def _encode(text: str, coding: str, max_bytes: int) -> bytes:
    try:
        content = text.encode(coding)
    except UnicodeEncodeError:
        raise UnsupportedCommand(f"data has characters that {coding.upper()} does not have") from None
    if len(content) > max_bytes:
        raise UnsupportedCommand(f"data is longer than {max_bytes} bytes")
    return content


def _upload_text(command: DeviceCommand) -> bytes:
    """Return the text that makes a dashcam upload the files of an alarm to a server of its maker's kind."""
    address, label = command.media, str(command.attributes.get("label", ""))
    if address is None or not address.host:
        raise UnsupportedCommand("the server knows no address of its own for the device's files")
    if len(label) != LABEL_FORMS[0][1] * 2 or not all(digit in "0123456789abcdefABCDEF" for digit in label):
        raise UnsupportedCommand("label must be an alarm label in hex digits")
    text = f"VIDEOUPLOAD,{address.host},{address.upload_port},{label},1-2-3,2"
    return _encode(text, "ascii", MAX_TEXT_BYTES)

"""Commands, which are the content of messages (docs/protocols/watch.md#commands)."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.framing import ByteStuffing
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.numbers import whole_number
from motorpool.codecs.reports import DeviceCommand

ESCAPES = ByteStuffing({b"}\x01": b"}", b"}\x02": b"[", b"}\x03": b"]", b"}\x04": b",", b"}\x05": b"*"})
"""Bytes of sounds and pictures that would be marks of a frame (docs/protocols/watch.md#frames)."""
MAX_CONTENT: Final = 0xFFFF
"""The length of a message has four hexadecimal digits."""
_PLAIN: Final = {"positionSingle": "CR", "rebootDevice": "RESET", "powerOff": "POWEROFF"}
_SWITCHES: Final = {"alarmSos": "SOSSMS", "alarmBattery": "LOWBAT", "alarmRemove": "REMOVE"}
_LISTS: Final = {
    "silenceTime": "SILENCETIME",
    "alarmClock": "REMIND",
    "setPhonebook": "PHB",
    "setIndicator": "FLOWER",
}
_OTHERS: Final = ("custom", "positionPeriodic", "sosNumber", "message", "voiceMessage", "setTimezone")
COMMANDS: Final = frozenset((*_PLAIN, *_SWITCHES, *_LISTS, *_OTHERS))
ECHOED: Final = frozenset(
    (*_PLAIN.values(), *_SWITCHES.values(), *_LISTS.values(), "UPLOAD", "MESSAGE", "LZ")
)
"""Types of commands, which a watch repeats as its answer; and `SOS` with a number."""
_PHONE = re.compile(r"\+?[0-9]{1,20}")


def command_content(command: DeviceCommand, now: datetime | None) -> bytes:
    """Return the content of the message for a command.

    Args:
        command: one of `COMMANDS`; `custom` with the content as `data`.
        now: the time, for offsets of time zones; None: not known.

    Raises:
        UnsupportedCommand: there is no message for it, or an attribute cannot be sent.
    """
    kind, attributes = command.type, command.attributes
    if kind == "custom":
        content = _text(attributes, "data").encode()
    elif kind == "message":
        content = b"MESSAGE," + _utf16(attributes.get("message")).encode()
    elif kind == "voiceMessage":
        content = b"TK," + ESCAPES.encode(_bytes(attributes.get("data")))
    elif kind in _PLAIN:
        content = _PLAIN[kind].encode()
    elif kind in _LISTS:
        content = f"{_LISTS[kind]},{_text(attributes, 'data')}".encode()
    elif kind in _SWITCHES:
        enable = attributes.get("enable")
        if not isinstance(enable, bool):
            raise UnsupportedCommand("enable must be true or false")
        content = f"{_SWITCHES[kind]},{enable:d}".encode()
    elif kind == "positionPeriodic":
        content = f"UPLOAD,{integer(attributes, 'frequency', None, 1, 99_999, 'number')}".encode()
    elif kind == "sosNumber":
        phone = attributes.get("phone")
        if not isinstance(phone, str) or not _PHONE.fullmatch(phone):
            raise UnsupportedCommand("phone must be a telephone number of at most 20 digits")
        content = f"SOS{integer(attributes, 'index', None, 1, 9, 'number')},{phone}".encode()
    elif kind == "setTimezone":
        content = f"LZ,{_language(attributes)},{_offset(attributes.get('timezone'), now)}".encode()
    else:
        raise UnsupportedCommand(f"watch has no message for {kind}")
    if len(content) > MAX_CONTENT:
        raise UnsupportedCommand(f"more than {MAX_CONTENT} bytes cannot be sent")
    return content


def _text(attributes: Mapping[str, Any], name: str) -> str:
    text = attributes.get(name)
    if (
        not isinstance(text, str)
        or not text
        or not text.isascii()
        or not text.isprintable()
        or "[" in text
        or "]" in text
    ):
        raise UnsupportedCommand(f"{name} must be printable ASCII text without square brackets")
    return text


def _utf16(text: object) -> str:
    if not isinstance(text, str) or not text:
        raise UnsupportedCommand("message must be a text")
    try:
        return text.encode("utf-16-be").hex()
    except UnicodeEncodeError:
        raise UnsupportedCommand("message has half a character") from None


def _bytes(digits: object) -> bytes:
    try:
        content = bytes.fromhex(digits) if isinstance(digits, str) else b""
    except ValueError:
        content = b""
    if not content:
        raise UnsupportedCommand("data must be a sound in hexadecimal digits")
    return content


def _language(attributes: Mapping[str, Any]) -> str:
    value = attributes.get("language")
    if value is None or value == "":
        return ""
    number = whole_number(value)
    if number is None or not 0 <= number < 1000:
        raise UnsupportedCommand("language must be the number of a language")
    return str(number)


def _offset(name: object, now: datetime | None) -> str:
    """Return the hours by which a zone differs from UTC outside summer time."""
    if now is None:
        raise UnsupportedCommand("the time is not known")
    try:
        zone = ZoneInfo(name) if isinstance(name, str) and name else None
    except (LookupError, ValueError, OSError):
        zone = None
    if zone is None:
        raise UnsupportedCommand("timezone must be the name of a time zone")
    year = now.astimezone(UTC).year
    offsets = [datetime(year, month, 1, tzinfo=zone).utcoffset() for month in (1, 7)]
    hours = min(offset.total_seconds() / 3600 for offset in offsets if offset is not None)
    return f"{hours:+g}"

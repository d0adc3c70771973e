"""Commands of the server (docs/protocols/ruptela.md#commands)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from motorpool.codecs.devices.command_values import integer
from motorpool.codecs.devices.ruptela.frames import server_frame
from motorpool.codecs.devices.ruptela.photos import FILES
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand

CONFIGURATION, VERSION, FIRMWARE, CONNECTION, ODOMETER, SMS, OUTPUT = 2, 3, 4, 5, 6, 8, 17
MAX_TEXT = 4096
MAX_WORD = 0xFFFFFFFF
DEFAULT_PASSWORD = "pass"  # noqa: S105 - with which devices are delivered
_SMS_TEXTS: Final = {"engineStop": "immobilizer 10", "engineResume": "resetimmob"}
_FIXED: Final = {
    "requestPhoto": (FILES, bytes.fromhex("0100000000007FFFFFFF")),
    "getVersion": (VERSION, b""),
    "firmwareUpdate": (FIRMWARE, b"|FU_STRT*\r\n"),
}
_OTHERS: Final = ("custom", "configuration", "setConnection", "setOdometer", "outputControl")
COMMANDS = frozenset((*_SMS_TEXTS, *_FIXED, *_OTHERS))
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_TEXT = re.compile(r"[ -~]*")
_LINES = re.compile(r"[ -~\t\r\n]*")
_HOST = re.compile(r"[!-+\--~]{1,100}")
"""Printable, without a comma."""


def command_frame(command: DeviceCommand, password: str) -> bytes:
    """Return the frame of a command; `password` is the one for text messages; empty for the default.

    Raises:
        UnsupportedCommand: there is no such command, or an attribute cannot be sent.
    """
    attributes = command.attributes
    match command.type:
        case "custom":
            text = _text(attributes, _TEXT)
            if not text:
                raise UnsupportedCommand("data is empty")
            return bytes.fromhex(text) if _HEX.fullmatch(text) else server_frame(SMS, text.encode())
        case "engineStop" | "engineResume":
            password = password or DEFAULT_PASSWORD
            if not _TEXT.fullmatch(password) or len(password) > MAX_TEXT:
                raise UnsupportedCommand("the password of the device cannot be sent")
            return server_frame(SMS, f"{password} {_SMS_TEXTS[command.type]}".encode())
        case fixed if fixed in _FIXED:
            return server_frame(*_FIXED[fixed])
        case "configuration":
            return server_frame(CONFIGURATION, _text(attributes, _LINES).encode() + b"\r\n")
        case "setConnection":
            return server_frame(CONNECTION, _address(attributes))
        case "setOdometer":
            return server_frame(ODOMETER, _word(attributes, "data"))
        case "outputControl":
            return server_frame(OUTPUT, _word(attributes, "index") + _word(attributes, "data"))
        case _:
            raise UnsupportedCommand(f"ruptela has no message for {command.type}")


def _text(attributes: Mapping[str, Any], allowed: re.Pattern[str]) -> str:
    text = attributes.get("data")
    if not isinstance(text, str) or len(text) > MAX_TEXT or not allowed.fullmatch(text):
        raise UnsupportedCommand(f"data must be printable ASCII text of at most {MAX_TEXT} characters")
    return text


def _word(attributes: Mapping[str, Any], key: str) -> bytes:
    return integer(attributes, key, None, 0, MAX_WORD).to_bytes(4, "big")


def _address(attributes: Mapping[str, Any]) -> bytes:
    host = attributes.get("server")
    if not isinstance(host, str) or not _HOST.fullmatch(host):
        raise UnsupportedCommand("server must be a host name or address")
    port = integer(attributes, "port", None, 1, 65535, "number")
    return f"{host},{port},TCP".encode()

"""The texts of commands."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any, Final

from motorpool.codecs.devices.command_values import integer, printable
from motorpool.codecs.errors import UnsupportedCommand
from motorpool.codecs.reports import DeviceCommand

_TEXTS: Final = {
    "positionSingle": "AP00",
    "positionStop": "AR0000000000",
    "getVersion": "AP07",
    "rebootDevice": "AT00",
    "setOdometer": "AX01",
    "engineStop": "AV010",
    "engineResume": "AV011",
}
_ALTERNATIVE_TEXTS: Final = {
    "getVersion": "*about*",
    "powerOff": "*turnoff*",
    "rebootDevice": "88888888",
    "positionSingle": "*getposl*",
    "positionPeriodic": "*routetrack*99*",
    "positionStop": "*routetrackoff*",
    "getDeviceStatus": "*status*",
    "deviceIdentification": "999999",
}
_SWITCHES: Final = {
    "modeDeepSleep": ("*sleep*2*", "*sleepoff*"),
    "modePowerSaving": ("*sleepv*", "*sleepoff*"),
    "alarmSos": ("*soson*", "*sosoff*"),
}
"""Texts that switch something on and off (`enable`)."""
COMMANDS: Final = frozenset(
    (
        "custom",
        "outputControl",
        "positionPeriodic",
        "setConnection",
        "sosNumber",
        *_TEXTS,
        *_ALTERNATIVE_TEXTS,
        *_SWITCHES,
    )
)
_DATA = re.compile(r"[0-9A-Za-z]{1,20}")
_PHONE = re.compile(r"\+?[0-9]{1,20}")
_PASSWORD = re.compile(r"[0-9A-Za-z]{1,20}")
DEFAULT_PASSWORD = "123456"  # noqa: S105 - the makers' own, which devices have until it is changed


def command_text(command: DeviceCommand, unique_id: str, password: str, is_alternative: bool) -> str:
    """Return a command as it is sent.

    What has no text of its own among the alternative ones is sent in the usual form.

    Raises:
        UnsupportedCommand: the device has no such command, or an attribute cannot be encoded.
    """
    if command.type not in COMMANDS:
        raise UnsupportedCommand(f"tk103 has no message for {command.type}")
    if is_alternative and (text := _alternative_text(command, password)):
        return f"[begin]sms2,{text},[end]"
    return f"({unique_id}{_text(command)})"


def _text(command: DeviceCommand) -> str:
    attributes = command.attributes
    match command.type:
        case "custom":
            return printable(attributes, "data")
        case "positionPeriodic":
            seconds = integer(attributes, "frequency", None, 1, 0xFFFF, "number of seconds")
            return f"AR00{seconds:04X}0000"
        case "outputControl":
            return f"AV00{_matching(attributes, 'data', _DATA, 'letters and digits')}"
        case kind if kind in _TEXTS:
            return _TEXTS[kind]
        case kind:
            raise UnsupportedCommand(f"only devices with the attribute tk103.alternative have {kind}")


def _alternative_text(command: DeviceCommand, password: str) -> str:
    attributes = command.attributes
    match command.type:
        case "custom":
            return printable(attributes, "data")
        case "setConnection":
            return f"*setip*{_address(attributes)}*{integer(attributes, 'port', None, 1, 65535, 'number')}*"
        case "sosNumber":
            password = password or DEFAULT_PASSWORD
            if not _PASSWORD.fullmatch(password):
                raise UnsupportedCommand("devicePassword must be up to 20 letters and digits")
            return f"*master*{password}*{_matching(attributes, 'phone', _PHONE, 'a telephone number')}*"
        case kind if kind in _SWITCHES:
            enable = attributes.get("enable")
            if not isinstance(enable, bool):
                raise UnsupportedCommand("enable must be true or false")
            return _SWITCHES[kind][0 if enable else 1]
        case kind:
            return _ALTERNATIVE_TEXTS.get(kind, "")


def _matching(attributes: Mapping[str, Any], name: str, form: re.Pattern[str], what: str) -> str:
    value = attributes.get(name)
    text = "" if value is None or isinstance(value, bool) else str(value)
    if not form.fullmatch(text):
        raise UnsupportedCommand(f"{name} must be {what}, up to 20 characters")
    return text


def _address(attributes: Mapping[str, Any]) -> str:
    try:
        return str(IPv4Address(str(attributes.get("server")))).replace(".", "*")
    except ValueError:
        raise UnsupportedCommand("server must be a numeric IPv4 address") from None

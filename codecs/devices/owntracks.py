"""The codec of OwnTracks in its HTTP mode: JSON objects (docs/protocols/owntracks.md)."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from motorpool.codecs.devices.attributes import add_alarms, put
from motorpool.codecs.devices.http_codec import Exchange, HttpCodec, HttpRequest, Ignored
from motorpool.codecs.devices.network import access_point, network_of
from motorpool.codecs.errors import CodecError, UnsupportedCommand
from motorpool.codecs.numbers import parse_finite
from motorpool.codecs.reports import DeviceCommand, EncodedCommand, PositionReport
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_REPORT_LOCATION = b'{"_type":"cmd","action":"reportLocation"}'
_POSITIONS = frozenset(("location", "transition"))
_CHARGING = {1: False, 2: True, 3: True}
"""Battery status: unplugged, charging, full."""
_TEXTS = {
    "t": "trigger",
    "conn": "connection",
    "desc": "geofence",
    "poi": "poi",
    "event": "event",
    "vin": "vin",
    "name": "vin",
}
_NUMBERS = {"batt": "batteryLevel", "p": "pressure", "vac": "verticalAccuracy"}
"""Numbers that are negative where they are not known."""
_VEHICLE_NUMBERS = {
    "uext": ("power", 1),
    "ubatt": ("battery", 1),
    "rpm": ("rpm", 1),
    "odometer": ("odometer", 1000),
    "hmc": ("hours", 1000),
}
"""Of gateways for trackers in vehicles: attributes, and what they are multiplied by."""
_FLAGS = {"ign": "ignition", "motion": "motion"}
_MAX_INPUTS = 16
_ALARMS = {
    "9": "lowBattery",
    "1": "powerOn",
    "E": "powerRestored",
    "e": "powerCut",
    "!": "tow",
    "s": "overspeed",
}
"""By the trigger."""
_IGNITION_TRIGGERS = {"i": True, "I": False}
_BEHAVIOUR_TRIGGER = "h"
_BEHAVIOURS: Mapping[float, str] = {
    0: "hardBraking",
    1: "hardAcceleration",
    3: "hardBraking",
    4: "hardAcceleration",
}
"""By the type of the report; others are `hardCornering`."""

_decode = msgspec.json.Decoder().decode


class OwnTracks(HttpCodec):
    """The server's end of one HTTP connection."""

    name = "owntracks"
    port = 5144
    commands = frozenset(("custom", "positionSingle"))
    content_type = "application/json"

    def read_request(
        self, request: HttpRequest, body: bytes, exchange: Exchange
    ) -> tuple[str, list[PositionReport]]:
        """Read the object of a POST; other types than locations and transitions only say that it is there."""
        exchange.unknown_status = 404
        if request.method != b"POST":
            raise CodecError("POST")
        if not body.strip():
            raise Ignored
        try:
            message = _decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise CodecError(str(error)) from None
        if not isinstance(message, dict):
            raise CodecError("the body is no object")
        kind = message.get("_type")
        if kind == "encrypted":
            raise CodecError("encrypted messages cannot be read")
        unique_id = _identity(message, request)
        if not unique_id:
            if kind in _POSITIONS:
                raise CodecError("neither topic nor tid")
            raise Ignored
        return unique_id, [_report(message)] if kind in _POSITIONS else []

    def answer(self, commands: Sequence[bytes]) -> bytes:
        """Return a list of commands, which are objects."""
        return b"[%b]" % b",".join(commands)

    def encode(self, command: DeviceCommand) -> EncodedCommand:
        """Return a command object: `reportLocation`, or the `data` of a `custom` one."""
        if command.type == "positionSingle":
            return EncodedCommand(_REPORT_LOCATION)
        if command.type != "custom":
            raise UnsupportedCommand(f"owntracks has no message for {command.type}")
        text = command.attributes.get("data")
        try:
            is_object = isinstance(text, str) and isinstance(_decode(text), dict)
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            is_object = False
        if not is_object or not isinstance(text, str):
            raise UnsupportedCommand("data must be a JSON object")
        return EncodedCommand(text.encode())


def _identity(message: Mapping[str, Any], request: HttpRequest) -> str:
    """Return the topic, else the tracker id, else user and device of the headers."""
    for name in ("topic", "tid"):
        value = message.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    headers = request.headers
    user, device = (headers.get(name, b"").decode("latin-1").strip() for name in (b"x-limit-u", b"x-limit-d"))
    return f"owntracks/{user}/{device}" if user and device else ""


def _report(message: Mapping[str, Any]) -> PositionReport:
    place = _number(message, "lat"), _number(message, "lon")
    if place[0] is None or place[1] is None:
        raise CodecError("no lat and lon")
    latitude, longitude = checked_coordinates(place[0], place[1])
    moment, sent = _time(message, "tst"), _time(message, "sent")
    speed, course = _number(message, "vel"), _number(message, "cog")
    address = message.get("BSSID")
    return PositionReport(
        _attributes(message),
        sent or moment,
        moment if sent else None,
        valid=True,
        latitude=latitude,
        longitude=longitude,
        altitude=_number(message, "alt") or 0.0,
        speed=max(0.0, speed or 0.0) * KNOTS_PER_KMH,
        course=course if course is not None and 0 <= course <= 360 else 0.0,
        accuracy=max(0.0, _number(message, "acc") or 0.0),
        network=network_of((), [access_point(address)]) if isinstance(address, str) and address else None,
    )


def _attributes(message: Mapping[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        name: message[key] for key, name in _TEXTS.items() if isinstance(message.get(key), str)
    }
    for key, name in _NUMBERS.items():
        number = _number(message, key)
        if number is not None and number >= 0:
            attributes[name] = number
    _add_vehicle(attributes, message)
    status = message.get("bs")
    if isinstance(status, int) and status in _CHARGING:
        attributes["charge"] = _CHARGING[status]
    if isinstance(message.get("topic"), str) and isinstance(message.get("tid"), str):
        attributes["tid"] = message["tid"]
    regions = message.get("inregions")
    if isinstance(regions, list):
        attributes["regions"] = ",".join(region for region in regions if isinstance(region, str))
    return attributes


def _add_vehicle(attributes: dict[str, Any], message: Mapping[str, Any]) -> None:
    """Add what gateways for trackers in vehicles say."""
    for key, (name, factor) in _VEHICLE_NUMBERS.items():
        number = _number(message, key)
        if number is not None:
            attributes[name] = number * factor
    for key, name in _FLAGS.items():
        if isinstance(message.get(key), bool):
            attributes[name] = message[key]
    for at in range(min(_MAX_INPUTS, int(_number(message, "anum") or 0))):
        volts = message.get(f"adda-{at:02}")
        if isinstance(volts, str) and (number := parse_finite(volts)) is not None:
            attributes[f"adc{at + 1}"] = number / 1000
        put(attributes, f"temp{at + 1}", _number(message, f"temp_c-{at:02}"))
    trigger = message.get("t")
    if not isinstance(trigger, str):
        return
    if trigger in _IGNITION_TRIGGERS:
        attributes["ignition"] = _IGNITION_TRIGGERS[trigger]
    elif trigger in _ALARMS:
        add_alarms(attributes, (_ALARMS[trigger],))
    elif trigger == _BEHAVIOUR_TRIGGER:
        add_alarms(attributes, (_BEHAVIOURS.get(_number(message, "rty") or 0, "hardCornering"),))


def _time(message: Mapping[str, Any], key: str) -> datetime | None:
    seconds = _number(message, key)
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise CodecError(f"{key} is no time") from None


def _number(message: Mapping[str, Any], key: str) -> float | None:
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value

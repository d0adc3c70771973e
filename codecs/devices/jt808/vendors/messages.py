"""Messages of small makers other than locations (docs/protocols/jt808-vendors.md#messages)."""

from collections.abc import Callable
from datetime import UTC, datetime
from struct import iter_unpack
from typing import Any

import msgspec

from motorpool.codecs.devices.jt808.bodies import text
from motorpool.codecs.devices.jt808.commands import TERMINAL_CONTROL
from motorpool.codecs.devices.jt808.frames import MAX_BODY_BYTES, encode_frame
from motorpool.codecs.devices.jt808.location import LOCATION_BYTES
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.times import BEIJING, to_bcd
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import (
    CommandResult,
    DeviceInformation,
    PositionReport,
    Receipt,
    Report,
    UnknownMessage,
)

TIME_REQUEST_2019 = 0x0004
CONTROL_RESPONSE = 0x0105
TIME_REQUEST = 0x0109
VERSION = 0x0205
BATTERY = 0x0210
TEXT_RESPONSE = 0x0701
DRIVER_CARD = 0x0702
ZONED_TIME_REQUEST = 0x0F01
WIDE_TEXT_RESPONSE = 0x1300
ACCELERATIONS = 0x2070
CODED_TEXT_RESPONSE = 0x6006

_NOT_READ = (0x0120, 0x020A, 0x0506, 0x1007, 0x8888)
"""ICCID, dump of a vehicle bus, second heartbeat, zone, photo: their layouts are not known."""

_CONTROL_RESULTS = {0: "ok", 1: "not supported", 2: "engine on", 4: "moving", 0x20: "timeout"}
_VERSION_BYTES = 128
_CARD_INSERTED, _CARD_READ = 1, 0
_MARK_BYTES = 6


def text_result(message: TerminalMessage, answer: str, receipt: Receipt | None) -> list[Report]:
    """Return a text as the result of the oldest command that waits for one, else as an attribute."""
    reference = message.sent_commands.take_text()
    if reference is None:
        return [DeviceInformation({"result": answer}, receipt=receipt)]
    return [CommandResult(reference, ok=True, text=answer, receipt=receipt)]


def time_response(message_id: int, utc_now: Callable[[], datetime] | None) -> tuple[int, bytes] | None:
    """Return id and body of the response that holds the time; None without a clock, and where the message
    asks for none.
    """
    write = _TIME_RESPONSES.get(message_id)
    return write(utc_now().astimezone(UTC)) if write is not None and utc_now is not None else None


def _binary_time(now: datetime) -> tuple[int, bytes]:
    clock = bytes((now.month, now.day, now.hour, now.minute, now.second))
    return 0x8109, now.year.to_bytes(2, "big") + clock + b"\0"


_TIME_RESPONSES: dict[int, Callable[[datetime], tuple[int, bytes]]] = {
    TIME_REQUEST_2019: lambda now: (0x8004, to_bcd(now)),
    TIME_REQUEST: _binary_time,
    ZONED_TIME_REQUEST: lambda now: (0x8F01, b"\x01" + to_bcd(now.astimezone(BEIJING))),
    VERSION: lambda now: (0x8205, to_bcd(now.astimezone(BEIJING)) + bytes(5)),  # no upgrade
}


def _control_response(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    serial, code = fields.uint16(), fields.uint8()
    answer = _CONTROL_RESULTS.get(code, f"result {code}")
    reference = message.sent_commands.take(serial, TERMINAL_CONTROL)
    if reference is None:
        return [DeviceInformation({"result": answer}, receipt=message.receipt)]
    return [CommandResult(reference, code == 0, answer, message.receipt)]


def _version(message: TerminalMessage) -> list[Report]:
    body = message.body
    if len(body) < _VERSION_BYTES:
        raise Truncated(f"a version of {len(body)} bytes")
    texts = {
        "versionFw": text(body[:14]),
        "imei": text(body[51:66]),
        "iccid": text(body[81:101]).rstrip("fF"),
        "vin": text(body[103:120]),
    }
    attributes: dict[str, Any] = {name: value for name, value in texts.items() if value}
    attributes["odometer"] = int.from_bytes(body[120:124], "big")
    attributes["fuelUsed"] = int.from_bytes(body[124:128], "big") / 1000
    return [DeviceInformation(attributes)]


def _battery(message: TerminalMessage) -> list[Report]:
    """A percentage with a time, or locations behind lengths of one byte that fill the body exactly."""
    body = message.body
    if len(body) == 7:
        attributes = {"batteryLevel": body[0]}
        return [_without_place(message, attributes, message.clock.read(body[1:]))]
    starts: list[int] = []
    at = 0
    while at < len(body) and body[at] >= LOCATION_BYTES:
        starts.append(at + 1)
        at += 1 + body[at]
    if not starts or at != len(body):
        return not_read(message)
    reports: list[Report] = [message.location(start, start + body[start - 1]) for start in starts]
    reports[-1] = msgspec.structs.replace(reports[-1], receipt=message.receipt)
    return reports


def _driver_card(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    state, time = fields.uint8(), message.clock.read(fields.take(6))
    attributes: dict[str, Any] = {"cardStatus": state}
    if state == _CARD_INSERTED and fields.remaining:
        result = attributes["cardResult"] = fields.uint8()
        if fields.remaining:
            name = text(fields.take(fields.uint8()))
            code = text(fields.take(20))
            agency = text(fields.take(fields.uint8()))
            known = {"driver": name, "cardCode": code, "cardAgency": agency}
            attributes |= {key: value for key, value in known.items() if value}
            if fields.remaining >= 4:
                attributes["cardValidity"] = fields.digits(4)
            if result == _CARD_READ and code:
                attributes["driverUniqueId"] = code
    return [_without_place(message, attributes, time)]


def _text_response(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    size = fields.uint32()
    return text_result(message, text(fields.take(min(size, fields.remaining))), None)


def _wide_text_response(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    fields.uint16()  # the serial of what it answers; texts are answered in their order
    return text_result(message, fields.rest().decode("utf-16-be", "replace").strip("\0 \r\n\t"), None)


def _coded_text_response(message: TerminalMessage) -> list[Report]:
    fields = ByteReader(message.body)
    coding = "utf-16-be" if fields.uint8() == 1 else "gbk"
    content = fields.rest()
    if content[:1] == content[_MARK_BYTES - 1 : _MARK_BYTES] == b"*":
        content = content[_MARK_BYTES:]
    return text_result(message, content.decode(coding, "replace").strip("\0 \r\n\t"), message.receipt)


def _accelerations(message: TerminalMessage) -> list[Report]:
    body = message.body
    if not body or len(body) % 12:
        raise Truncated(f"accelerations of {len(body)} bytes")
    entries = list(iter_unpack(">6sHHH", body))
    axes = [[-(axis & 0x7FFF) if axis & 0x8000 else axis for axis in entry[1:]] for entry in entries]
    written = ",".join("[{},{},{}]".format(*entry) for entry in axes)
    attributes = {"gSensor": f"[{written}]"}
    return [PositionReport(attributes, message.clock.read(entries[-1][0]), located=False)]


def _without_place(
    message: TerminalMessage, attributes: dict[str, Any], time: datetime | None
) -> PositionReport:
    return PositionReport(attributes, time, located=False, receipt=message.receipt)


def not_read(message: TerminalMessage) -> list[Report]:
    """Return a message whose layout is not known, as its whole frame."""
    body = message.body
    frame = encode_frame(message.identity, message.message_id, message.serial, body[:MAX_BODY_BYTES])
    return [UnknownMessage(frame, f"0x{message.message_id:04x}", message.receipt)]


READERS: dict[int, Callable[[TerminalMessage], list[Report]]] = {
    CONTROL_RESPONSE: _control_response,
    VERSION: _version,
    BATTERY: _battery,
    TEXT_RESPONSE: _text_response,
    DRIVER_CARD: _driver_card,
    WIDE_TEXT_RESPONSE: _wide_text_response,
    ACCELERATIONS: _accelerations,
    CODED_TEXT_RESPONSE: _coded_text_response,
    **dict.fromkeys(_NOT_READ, not_read),
}
"""By message id."""

"""Content of 0x0900 (docs/protocols/jt808-vendors.md#pass-through): a kind BYTE and content."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from struct import Struct

import msgspec

from motorpool.codecs.devices.jt808.bodies import text
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.location import LOCATION_BYTES
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.times import to_bcd
from motorpool.codecs.devices.jt808.vendors.fields import Quantity, axes, walk
from motorpool.codecs.devices.jt808.vendors.messages import not_read, text_result
from motorpool.codecs.devices.jt808.vendors.obd import OBD_TEXT, read_obd_text
from motorpool.codecs.devices.jt808.vendors.obd_reports import read_obd_report
from motorpool.codecs.devices.jt808.vendors.passthrough_locations import (
    holloo_place,
    is_bcd,
    location_at,
    place_of,
)
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import Heartbeat, PositionReport, Report

_Found = PositionReport | Attributes | str | None
"""A position; attributes without a place; a text; None: nothing is known of it."""

_PLACE_BYTES = 24
"""A location without its alarm word."""
_TAG_MARK = b"GTSL|"
_DRIVER_FIELD = 4
_FIX = Struct(">6siihHH")
_RECORDER = Struct(">IHIBBB32s24s8s")
_RECORDER_KINDS = 4
_RECORDER_OLD = (1, 3)
_ASLEEP_BYTES = 6
_TRIP_QUANTITIES = {
    0x0009: Quantity("tripOdometer"),
    0x000A: Quantity("tripFuelUsed", -1000),
    0x000B: Quantity("drivingTime", 1000),
    0x000F: Quantity("maxSpeed"),
    0x0010: Quantity("idlingTime"),
}


def _text_with_length(_: TerminalMessage, content: bytes) -> _Found:
    fields = ByteReader(content)
    size = fields.uint16()
    return _passed_text(fields.take(min(size, fields.remaining)))


def _serial_port(_: TerminalMessage, content: bytes) -> _Found:
    return _passed_text(content)


def _passed_text(content: bytes) -> _Found:
    if content.startswith(OBD_TEXT):
        return read_obd_text(content.decode("ascii", "replace"))
    passed = text(content)
    if content.startswith(_TAG_MARK):
        words = passed.split("|")
        driver = words[_DRIVER_FIELD].strip() if len(words) > _DRIVER_FIELD else ""
        return {"driverUniqueId": driver} if driver else {"data": passed}
    if not passed.replace("\r", "").replace("\n", "").replace("\t", "").isprintable():
        return {"data": content.hex()}
    return passed.strip() or None


def _tags(message: TerminalMessage, content: bytes) -> _Found:
    position = location_at(message, bytes(4) + content[:_PLACE_BYTES])
    fields = ByteReader(content, _PLACE_BYTES)
    with suppress(Truncated):
        fields.skip(1)  # how many there are in all messages
        while fields.remaining:
            tag = f"tag{fields.uint8() + 1}"
            address, signal, data = fields.take(6), fields.sint(1), fields.take(fields.uint8())
            position.attributes[f"{tag}Mac"] = address.hex()
            position.attributes[f"{tag}Rssi"] = signal
            if data:
                position.attributes[f"{tag}Data"] = data.hex()
    return position


def _sensors(message: TerminalMessage, content: bytes) -> _Found:
    position = location_at(message, bytes(4) + content[:_PLACE_BYTES])
    attributes, fields = position.attributes, ByteReader(content, _PLACE_BYTES)
    with suppress(Truncated):
        while fields.remaining:
            mask = fields.uint16()
            fields.skip(6)  # when it was measured
            if mask & 1:
                attributes["lightSensor"] = fields.uint16()
            if mask & 2:
                attributes["deviceTemp"], attributes["humidity"] = fields.sint(2) / 10, fields.sint(2) / 10
            if mask & 4:
                attributes["temp3"] = fields.sint(2) / 10
            if mask & 8:
                attributes["gSensor"] = axes(fields.take(6))
            if mask & 16:
                attributes["airPressure"] = fields.uint16()
    return position


def _recorder_or_obd(message: TerminalMessage, content: bytes) -> _Found:
    if not content:
        raise Truncated("a report without content")
    if content[0] >= _RECORDER_KINDS:
        return read_obd_report(message, content)
    location = content[1 : 1 + LOCATION_BYTES]
    if len(location) < LOCATION_BYTES:
        raise Truncated(f"a report of {len(content)} bytes")
    stamp = location[-6:]
    if not is_bcd(stamp):
        location = location[:-6] + _binary_stamp(stamp)
    position = location_at(message, location, archived=content[0] in _RECORDER_OLD)
    if len(content) >= 1 + LOCATION_BYTES + _RECORDER.size:
        odometer, fuel, signals, rssi, satellites, state, name, licence, card = _RECORDER.unpack_from(
            content, 1 + LOCATION_BYTES
        )
        position.attributes.update(
            odometer=odometer * 100,
            fuel=fuel / 10,
            input=signals,
            rssi=rssi,
            sat=satellites,
            driverState=state,
        )
        texts = {"driver": text(name), "driverLicence": text(licence), "card": text(card)}
        position.attributes.update((key, value) for key, value in texts.items() if value)
    return position


def _binary_stamp(stamp: bytes) -> bytes:
    """Return a time whose six bytes are plain numbers as BCD; as it is if it is no time."""
    year, month, day, hour, minute, second = stamp
    with suppress(ValueError):
        return to_bcd(datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC))
    return stamp


def _trip(_: TerminalMessage, content: bytes) -> _Found:
    if content.startswith(OBD_TEXT):
        return read_obd_text(content.decode("ascii", "replace"))
    attributes: Attributes = {}
    for number, value in walk(content) or ():
        quantity = _TRIP_QUANTITIES.get(number)
        if quantity is not None and len(value) in (1, 2, 4):
            attributes[quantity.key] = quantity.of(value)
    return attributes or None


def _codes(message: TerminalMessage, content: bytes) -> _Found:
    fields = ByteReader(content)
    position = holloo_place(message, fields)
    codes = [fields.digits(4) for _ in range(fields.uint8())]
    if codes:
        position.attributes["dtcs"] = " ".join(codes)
    return position


def _states(message: TerminalMessage, content: bytes) -> _Found:
    if len(content) == _ASLEEP_BYTES:
        return PositionReport({"sleep": 2}, message.clock.read(content), located=False)
    attributes: Attributes = {}
    time = None
    for number, value in walk(content, 2, 2) or ():
        if number == 0x0002 and len(value) == 2:
            attributes["collision"] = int.from_bytes(value, "big") / 256 / 100
        elif number == 0x0006 and len(value) == 6:
            time = message.clock.read(value)
    return PositionReport(attributes, time, located=False) if attributes or time else None


def _woken(message: TerminalMessage, content: bytes) -> _Found:
    fields = ByteReader(content)
    time, cause = message.clock.read(fields.take(6)), fields.uint8()
    return PositionReport({"wakeSource": cause}, time, located=False)


def _nothing(_: TerminalMessage, __: bytes) -> _Found:
    return {}


def _collision(message: TerminalMessage, content: bytes) -> _Found:
    position = holloo_place(message, ByteReader(content))
    position.attributes["alarm"] = "accident"
    return position


def _fix(message: TerminalMessage, content: bytes) -> _Found:
    if len(content) < _FIX.size:
        raise Truncated(f"a position of {len(content)} bytes")
    time, latitude, longitude, *motion = _FIX.unpack_from(content)
    return place_of(message, time, latitude, longitude, (motion[0], motion[1], motion[2]))


_READERS: dict[int, Callable[[TerminalMessage, bytes], _Found]] = {
    0x40: _text_with_length,
    0x41: _serial_port,
    0x42: _serial_port,
    0x53: _tags,
    0x54: _sensors,
    0xA1: _nothing,  # name of the network
    0xF0: _recorder_or_obd,
    0xF1: _trip,
    0xF2: _codes,
    0xF3: _states,
    0xF4: _woken,
    0xF6: _nothing,  # upgraded
    0xF7: _collision,
    0xFF: _fix,
}


def read_passthrough(message: TerminalMessage) -> list[Report]:
    """Return the reports of a 0x0900.

    Raises:
        Truncated: it ends before what its kind needs.
    """
    if not message.body:
        raise Truncated("nothing is passed through")
    read = _READERS.get(message.body[0])
    found = read(message, message.body[1:]) if read is not None else None
    if found is None:
        return not_read(message)
    if isinstance(found, str):
        if message.sent_commands.has_text:
            return text_result(message, found, message.receipt)
        found = {"data": found}
    if isinstance(found, dict):
        if not found:
            return [Heartbeat(message.receipt)]
        return [PositionReport(found, located=False, receipt=message.receipt)]
    return [msgspec.structs.replace(found, receipt=message.receipt)]

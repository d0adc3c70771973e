"""Positions of locks: 0x5501 with a fix, 0x5502 without
(docs/protocols/jt808-vendors.md#positions-of-locks).
"""

from collections.abc import Callable
from datetime import UTC, datetime
from struct import Struct
from typing import Any, Final

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.jt808.responses import GENERAL, LOCK, make_receipt
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.times import BCD
from motorpool.codecs.devices.jt808.vendors.fields import axes
from motorpool.codecs.devices.jt808.vendors.locks import lock_command
from motorpool.codecs.devices.jt808.vendors.record import ItemRecord
from motorpool.codecs.devices.network import cell_tower, network_of
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reports import PositionReport, Report

LOCK_POSITION, LOCK_BLIND = 0x5501, 0x5502

_FIXED = Struct(">6s4s5sBBBBIBIHBHH")
_VALID, _NORTH, _EAST = 1, 2, 4
_CHARGING: Final = (0xAA, 0xAB)
_BLOCKED = 1 << 5
_SEALS: Final = (1, 2)
_PADLOCK = 3
_SEAL_ALARMS: Final = {0: "lowPower"}
_PADLOCK_ALARMS: Final = {
    0: "overspeed",
    1: "lowPower",
    2: "vibration",
    3: "lowBattery",
    5: "geofenceEnter",
    6: "geofenceExit",
}
_LOCK_COMMAND_LENGTHS: Final = (1, 2, 5, 6, 7, 8)


def _lock_position(message: TerminalMessage) -> list[Report]:
    body = message.body
    if len(body) < _FIXED.size:
        raise Truncated(f"a lock's position of {len(body)} bytes")
    time, north, east, speed, course, rssi, sat, kilometres, battery, cell, lac, product, status, alarm = (
        _FIXED.unpack_from(body)
    )
    flags = east[4] & 0x0F
    latitude = _degrees(north.hex(), 2)
    longitude = _degrees(east.hex()[:9], 3)
    knots = BCD[speed]
    attributes: dict[str, Any] = {
        "status": status,
        "rssi": rssi,
        "sat": sat,
        "odometer": kilometres * 1000,
    }
    if battery in _CHARGING:
        attributes["charge"] = True
    elif battery <= 100:
        attributes["batteryLevel"] = battery
    record = ItemRecord(attributes, keeps_unknown=message.items.keeps_unknown)
    if product in _SEALS:
        record.add_alarms(_SEAL_ALARMS, alarm)
    elif product == _PADLOCK:
        attributes["blocked"] = status & _BLOCKED != 0
        record.add_alarms(_PADLOCK_ALARMS, alarm)
    network = _read_items(body, record)
    add_alarms(attributes, record.alarms)
    located = latitude is not None and longitude is not None
    # Only the header of 2013 has a form for locks.
    kind = LOCK if len(message.identity.phone) == 6 else GENERAL
    receipt = make_receipt(message.identity_bits, message.message_id, message.serial, kind)
    return [
        PositionReport(
            attributes,
            _moment(time),
            located=located,
            valid=located and flags & _VALID != 0 and message.message_id == LOCK_POSITION,
            latitude=(latitude or 0.0) * (1 if flags & _NORTH else -1),
            longitude=(longitude or 0.0) * (1 if flags & _EAST else -1),
            altitude=float(record.altitude or 0),
            speed=float(knots or 0),
            course=course * 2.0 if course <= 180 else 0.0,
            network=network_of([cell_tower(*network, lac, cell)]),
            receipt=receipt if message.answer_wanted else None,
        )
    ]


def _read_items(body: bytes, record: ItemRecord) -> tuple[int | None, int | None]:
    """Read the items; return country and network of the cell."""
    country: int | None = None
    network: int | None = None
    at = _FIXED.size
    while at + 2 <= len(body):
        item, size = body[at], body[at + 1]
        value = body[at + 2 : at + 2 + size]
        at += 2 + size
        if at > len(body):
            break
        match item, size:
            case 0x02, 2:
                record.altitude = int.from_bytes(value, "big", signed=True)
            case 0x0A, (3 | 4):
                country, network = int.from_bytes(value[:2], "big"), int.from_bytes(value[2:], "big")
            case 0x0B, _ if size in _LOCK_COMMAND_LENGTHS:
                lock_command(value, record)
            case 0x0C, 6:
                record.attributes["tilt"] = axes(value)
            case 0x10, 1:
                record.attributes["wakeSource"] = value[0]
            case 0xFC, 1:
                record.attributes["geofence"] = str(value[0])
            case _:
                record.keep_unknown(f"0x{item:02X}", value)
    return country, network


def _degrees(digits: str, whole: int) -> float | None:
    """Return what digits of degrees, minutes and four decimals of a minute say; None if they say nothing."""
    if not digits.isdecimal():
        return None
    degrees = int(digits[:whole]) + int(digits[whole:]) / 600_000
    return degrees if degrees <= (90 if whole == 2 else 180) else None


def _moment(stamp: bytes) -> datetime | None:
    """Return the time of day, month, year, hour, minute and second in UTC; None for no time."""
    numbers = [number for value in stamp if (number := BCD[value]) is not None]
    if len(numbers) < len(stamp):
        return None
    day, month, year, hour, minute, second = numbers
    try:
        return datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


READERS: dict[int, Callable[[TerminalMessage], list[Report]]] = {
    LOCK_POSITION: _lock_position,
    LOCK_BLIND: _lock_position,
}
"""By message id."""

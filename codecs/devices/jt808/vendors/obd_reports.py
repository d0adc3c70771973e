"""Reports of OBD trackers in 0x0900, kind F0 (docs/protocols/jt808-vendors.md#obd-reports)."""

from collections.abc import Callable

from motorpool.codecs.devices.jt808.bodies import text
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.terminal_message import TerminalMessage
from motorpool.codecs.devices.jt808.vendors.fields import Quantity
from motorpool.codecs.devices.jt808.vendors.passthrough_locations import located
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import PositionReport

_PLACE_BYTES = 12
_PLACE_SIZES = (0, 12, 18)
"""Without a place, with one, and with one and its time."""

_QUANTITIES = {
    0x0102: Quantity("odometer", 100),
    0x0103: Quantity("fuel", -100),
    0x0105: Quantity("fuelUsed", -100),
    0x0111: Quantity("fuelTemp", 1, -40),
    0x012E: Quantity("oilLevel", -10),
    0x014A: Quantity("fuelConsumption", -100),
    0x0528: Quantity("odometer", 100),
    0x052A: Quantity("fuel", -100),
    0x052B: Quantity("fuelLevel"),
    0x052C: Quantity("fuelUsed", -100),
    0x052D: Quantity("coolantTemp", 1, -40),
    0x052E: Quantity("airTemp", 1, -40),
    0x0530: Quantity("power", -1000),
    0x0535: Quantity("obdSpeed", -10),
    0x0536: Quantity("rpm"),
    0x0537: Quantity("fuelConsumption", -100),
    0x0538: Quantity("fuelConsumption", -100),
    0x0539: Quantity("fuelConsumption", -100),
    0x053D: Quantity("intakePressure", -10),
    0x0544: Quantity("liquidLevel"),
    0x0546: Quantity("odometer", 100),
    0x0547: Quantity("throttle"),
    0x0548: Quantity("throttle"),
}
_VIN = 0xFEEC

_EVENTS = {
    0x01: "powerRestored",
    0x02: "powerCut",
    0x0E: "idle",
    0x1A: "hardAcceleration",
    0x1B: "hardBraking",
    0x1C: "hardCornering",
    0x1D: "laneChange",
    0x1E: "laneChange",
    0x1F: "laneChange",
    0x23: "fatigueDriving",
    0x25: "overspeed",
    0x26: "accident",
    0x27: "accident",
    0x28: "accident",
    0x31: "door",
    0x32: "door",
}
_HARSH = {
    51: "hardAcceleration",
    52: "hardBraking",
    53: "hardCornering",
    54: "laneChange",
    56: "accident",
}
_HARSH |= {int(str(code), 16): name for code, name in _HARSH.items()}
"""The sources write these numbers without their base."""
_TRIP_ENDED = 2


def _quantities(fields: ByteReader) -> Attributes:
    attributes: Attributes = {}
    for _ in range(fields.uint8()):
        number, content = fields.uint16(), fields.take(fields.uint8())
        quantity = _QUANTITIES.get(number)
        if number == _VIN:
            attributes["vin"] = text(content)
        elif len(content) in (1, 2, 4):
            key = quantity.key if quantity is not None else f"io{number}"
            attributes[key] = (quantity or Quantity(key)).of(content)
    return attributes


def _faults(fields: ByteReader) -> Attributes:
    codes: list[str] = []
    for _ in range(fields.uint16()):
        fields.skip(4)  # which system
        for _ in range(fields.uint16()):
            code = fields.take(4)
            fields.skip(4)  # its state
            codes.append(text(fields.take(fields.uint16())) or code.hex())
    return {"dtcs": " ".join(codes)} if codes else {}


def _events(fields: ByteReader) -> Attributes:
    count, rest = fields.uint8(), fields.rest()
    fitting: Attributes | None = None
    for id_bytes in (1, 2):
        entries, alarms = ByteReader(rest), []
        try:
            for _ in range(count):
                alarms.append(_EVENTS.get(entries.uint(id_bytes), ""))
                entries.skip(entries.uint8())
        except Truncated:
            continue
        names = ",".join(dict.fromkeys(filter(None, alarms)))
        if entries.remaining in _PLACE_SIZES:
            found: Attributes = {"place": entries.rest()}
            if names:
                return found | {"alarm": names}
            fitting = fitting or found
    if fitting is None:
        raise Truncated("events that do not end with the report")
    return fitting


def _trip(fields: ByteReader, message: TerminalMessage) -> Attributes:
    state = fields.uint8()
    attributes: Attributes = {"tripNumber": fields.uint32()}
    times = {"tripStart": message.clock.read(fields.take(6))}
    if state == _TRIP_ENDED:
        times["tripEnd"] = message.clock.read(fields.take(6))
        fields.skip(17)  # where it began and ended
        attributes |= {
            "idlingCount": fields.uint16(),
            "idlingTime": fields.uint16(),
            "tripOdometer": fields.uint16() * 100,
            "tripFuel": fields.uint16() / 100,
        }
    return attributes | {key: time.isoformat() for key, time in times.items() if time is not None}


def _identity(fields: ByteReader) -> Attributes:
    fields.skip(1)
    vin = text(fields.take(17))
    return {"vin": vin} if vin else {}


def _harsh_driving(fields: ByteReader) -> Attributes:
    code = fields.uint32()
    return {"alarm": _HARSH[code]} if code in _HARSH else {"event": code}


_READERS: dict[int, Callable[[ByteReader], Attributes]] = {
    0x01: _quantities,
    0x02: _faults,
    0x03: _events,
    0x0B: _identity,
    0x15: _harsh_driving,
}
_TRIP = 0x04
_WITH_PLACE = (0x01, 0x02, 0x03)


def read_obd_report(message: TerminalMessage, content: bytes) -> PositionReport | None:
    """Return the position of a report, with its own place where it has one; None for an unknown kind.

    Raises:
        Truncated: it ends early.
    """
    fields = ByteReader(content)
    stamp, archived = fields.take(6), fields.uint8() > 0
    fields.skip(1)  # kind of vehicle
    kind = fields.uint8()
    read = _READERS.get(kind)
    if kind == _TRIP:
        attributes = _trip(fields, message)
    elif read is not None:
        attributes = read(fields)
    else:
        return None
    place = attributes.pop("place", b"") or (fields.rest() if kind in _WITH_PLACE else b"")
    if len(place) >= _PLACE_BYTES:
        position = located(message, place[:_PLACE_BYTES], stamp, archived=archived)
        position.attributes.update(attributes)
        return position
    if archived:
        attributes["archive"] = True
    return PositionReport(attributes, message.clock.read(stamp), located=False, archived=archived)

"""The JT/T 808 location, 28 bytes and items, of 0x0200 and other messages
(docs/protocols/jt808.md#location).
"""

from struct import Struct

from motorpool.codecs.devices.jt808.item_layouts import decode_items
from motorpool.codecs.devices.jt808.items import Attributes
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reports import PositionReport, Receipt

LOCATION_BYTES = 28
"""Without items."""
KNOTS = 1 / 18.52
"""Knots in 0.1 km/h."""

_FIXED = Struct(">IIIIhHH5sB")
_CACHED_WORDS = 4096
"""Status words, and alarm words, whose attributes are remembered."""

_COMMON_ALARMS: dict[int, str] = {
    0: "sos",
    1: "overspeed",
    2: "fatigueDriving",
    3: "general",
    4: "fault",
    5: "gpsAntennaCut",
    6: "fault",
    7: "lowPower",
    8: "powerCut",
    9: "fault",
    10: "fault",
    11: "fault",
    12: "fault",
    13: "overspeed",
    14: "fatigueDriving",
    18: "fatigueDriving",
    19: "parking",
    20: "geofence",
    21: "geofence",
    22: "general",
    23: "geofenceExit",
    24: "fault",
    25: "fuelLeak",
    26: "tow",
    27: "powerOn",
    28: "movement",
    29: "accident",
    30: "accident",
    31: "door",
}
"""Alarm names by bit, for both forms."""
_ALARMS_2013 = {15: "vibration", 16: "tampering", 17: "tampering"}
"""Reserved in JT/T 808-2013; small trackers use them so."""
_ALARMS_2019 = {15: "general", 16: "general", 17: "general"}
"""Illegal driving, tyre pressure, blind spot."""

_statuses: dict[int, Attributes] = {}
_alarms: dict[int, tuple[str, ...]] = {}


def decode_location(
    content: bytes,
    start: int,
    end: int,
    clock: TerminalClock,
    *,
    is_2019: bool,
    archived: bool = False,
    receipt: Receipt | None = None,
) -> PositionReport:
    """Return the position in `content[start:end]`; `is_2019` selects the meaning of the bits.

    Raises:
        Truncated: fewer than 28 bytes.
    """
    if end - start < LOCATION_BYTES:
        raise Truncated(f"a location of {end - start} bytes")
    alarm, status, latitude, longitude, altitude, speed, course, minute, second = _FIXED.unpack_from(
        content, start
    )
    # Bit 32 of the keys is the form.
    word = status | 0x1_0000_0000 if is_2019 else status
    attributes = (_statuses.get(word) or _decode_status(word)).copy()
    raised = decode_items(content, start + LOCATION_BYTES, end, attributes)
    if alarm or raised:
        names: tuple[str, ...] = ()
        if alarm:
            word = alarm | 0x1_0000_0000 if is_2019 else alarm
            names = _alarms.get(word) or _decode_alarm(word)
        attributes["alarm"] = ",".join(dict.fromkeys((*names, *raised)))
    if archived:
        attributes["archive"] = True
    valid = status & 2 != 0
    # Zeros without a fix, and numbers beyond the poles or 180 degrees, are not coordinates.
    located = (valid or latitude != 0 or longitude != 0) and latitude <= 90e6 and longitude <= 180e6
    # All fields in their order: by keyword it would take four times as long.
    return PositionReport(
        attributes,
        clock.moment(minute, second),
        None,
        located,
        valid,
        (-latitude if status & 4 else latitude) / 1e6,
        (-longitude if status & 8 else longitude) / 1e6,
        float(altitude),
        speed * KNOTS,
        float(course) if course <= 360 else 0.0,
        0.0,
        None,
        archived,
        receipt,
    )


def _decode_status(word: int) -> Attributes:
    attributes: Attributes = {
        "status": word & 0xFFFF_FFFF,
        "ignition": word & 1 != 0,
        "blocked": word >> 10 & 3 != 0,  # oil line or circuit cut
    }
    if word >> 12 & 1:
        attributes["lock"] = True
    if word >> 13 & 0x1F:
        attributes["door"] = True
    if word >> 8 & 3:
        attributes["load"] = word >> 8 & 3
    if word >> 32 and word >> 22 & 1:
        attributes["motion"] = True
    if len(_statuses) >= _CACHED_WORDS:
        _statuses.clear()
    _statuses[word] = attributes
    return attributes


def _decode_alarm(word: int) -> tuple[str, ...]:
    table = _COMMON_ALARMS | (_ALARMS_2019 if word >> 32 else _ALARMS_2013)
    names = tuple(dict.fromkeys(table[bit] for bit in range(32) if word >> bit & 1))
    if len(_alarms) >= _CACHED_WORDS:
        _alarms.clear()
    _alarms[word] = names
    return names

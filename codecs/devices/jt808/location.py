"""The JT/T 808 location, 28 bytes and items, of 0x0200 and other messages
(docs/protocols/jt808.md#location).
"""

from struct import Struct

from motorpool.codecs.devices.attributes import add_alarms
from motorpool.codecs.devices.jt808.item_layouts import ItemDecoder
from motorpool.codecs.devices.jt808.items import Alarms
from motorpool.codecs.devices.jt808.times import TerminalClock
from motorpool.codecs.devices.jt808.vendors.models import STANDARD, model_of
from motorpool.codecs.devices.jt808.vendors.state_words import StateWords
from motorpool.codecs.errors import Truncated
from motorpool.codecs.reports import PositionReport, Receipt

LOCATION_BYTES = 28
"""Without items."""
KNOTS = 1 / 18.52
"""Knots in 0.1 km/h."""

_FIXED = Struct(">IIIIhHH5sB")
_TAIL = Struct(">4xIHIB3x")
_TAIL_BYTES = 18
_AOVX = model_of("AL300")
_AOVX_WORDS = {STANDARD.words_2013: _AOVX.words_2013, STANDARD.words_2019: _AOVX.words_2019}
"""What has the alarm bits of a location with items of these, where the model is not known."""
_POLE, _FARTHEST = 90_000_000, 180_000_000
"""Latitude and longitude, millionths of degrees."""
_DOORS = 0x3E000
"""Status bits that are doors except for Holloo's trackers."""


def decode_location(
    content: bytes,
    start: int,
    end: int,
    clock: TerminalClock,
    words: StateWords,
    items: ItemDecoder,
    receipt: Receipt | None = None,
    archived: bool = False,
) -> PositionReport:
    """Return the position in `content[start:end]`; `words` have the meaning of the bits, `items` decodes the
    items.

    Raises:
        Truncated: fewer than 28 bytes.
    """
    if end - start < LOCATION_BYTES:
        raise Truncated(f"a location of {end - start} bytes")
    alarm, status, latitude, longitude, altitude, speed, course, minute, second = _FIXED.unpack_from(
        content, start
    )
    attributes = (words.statuses.get(status) or words.decode_status(status)).copy()
    items_start = start + LOCATION_BYTES
    if end - items_start == _TAIL_BYTES and not _is_item_list(content, items_start, end):
        raised: Alarms = []
        others = None
        # Some trackers send these fields in place of items.
        kilometres, decivolts, _, rssi = _TAIL.unpack_from(content, items_start)
        attributes |= {"odometer": kilometres * 1000, "battery": decivolts / 10, "rssi": rssi}
    else:
        raised, others = items.decode(content, items_start, end, attributes, alarm)
    if others is not None and others.is_aovx:
        words = _AOVX_WORDS.get(words, words)
    if alarm or raised:
        names = (words.alarms.get(alarm) or words.decode_alarm(alarm)) if alarm else ()
        add_alarms(attributes, (*names, *raised))
    if archived:
        attributes["archive"] = True
    elif "archive" in attributes:  # a status bit
        archived = True
    network = None
    if others is not None:
        network = others.network
        if others.altitude is not None:
            altitude = others.altitude
        if others.is_holloo and status & _DOORS:
            attributes.pop("door", None)
    valid = status & 2 != 0
    # Zeros without a fix, and numbers beyond the poles or 180 degrees, are not coordinates.
    located = (valid or latitude != 0 or longitude != 0) and latitude <= _POLE and longitude <= _FARTHEST
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
        network,
        archived,
        receipt,
    )


def _is_item_list(content: bytes, start: int, end: int) -> bool:
    """Whether items fill the space exactly, none with the id 0."""
    while start + 2 <= end and content[start]:
        start += 2 + content[start + 1]
    return start == end

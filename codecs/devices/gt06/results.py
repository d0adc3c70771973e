"""Answers to commands (docs/protocols/gt06.md#commands)."""

import re
from datetime import UTC, datetime

from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import CommandResult, PositionReport, Report
from motorpool.codecs.units import KNOTS_PER_KMH, checked_coordinates

_UTF_16 = 2
_ICCID = re.compile(r"<ICCID:([0-9A-Fa-f]{19,20})>")
_PLACE = re.compile(
    r"Lat:([NS])([0-9.]{1,20}),\s*Lon:([EW])([0-9.]{1,20}),\s*Course:([0-9.]{1,10}),"
    r"\s*Speed:([0-9.]{1,10}).*?DateTime:\s*([0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9]{2}:[0-9]{2}:[0-9]{2})",
    re.DOTALL,
)


def read_answer(reader: ByteReader, receipt: bytes) -> Report:
    """Return an answer of type 15: its length, the number of the server, text."""
    size = reader.uint8()
    reader.skip(4)
    text = reader.ascii(max(0, min(size - 4, reader.remaining)))
    if found := _ICCID.search(text):
        attributes = {"iccid": found[1].rstrip("Ff"), "result": text}
        return PositionReport(attributes, located=False, receipt=receipt)
    return CommandResult(None, ok=True, text=text, receipt=receipt)


def read_text_answer(reader: ByteReader, receipt: bytes) -> Report:
    """Return an answer of type 21: the number of the server, the encoding, text, which may hold a place."""
    reader.skip(4)
    encoding = "utf-16-be" if reader.uint8() == _UTF_16 else "ascii"
    text = reader.rest().decode(encoding, "replace").strip("\0 ")
    found = _PLACE.search(text)
    if found is None:
        return CommandResult(None, ok=True, text=text, receipt=receipt)
    latitude, longitude = float(found[2]), float(found[4])
    checked_coordinates(latitude, longitude)
    course = float(found[5])
    if course > 360:
        raise CodecError("a course above 360 degrees")
    return PositionReport(
        {"result": text},
        datetime.strptime(" ".join(found[7].split()), "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC),
        valid=True,
        latitude=-latitude if found[1] == "S" else latitude,
        longitude=-longitude if found[3] == "W" else longitude,
        speed=float(found[6]) * KNOTS_PER_KMH,
        course=course,
        receipt=receipt,
    )

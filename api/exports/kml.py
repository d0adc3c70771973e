"""KML 2.2 (OGC 07-147r2): a line through all positions; and KMZ, the same in an archive."""

import zipfile
from collections.abc import Sequence
from datetime import datetime, tzinfo

from motorpool.api.exports.archive import Sink, time_of_member
from motorpool.api.exports.formats import PositionWriter, clock_time, xml_text
from motorpool.storage.records import Position

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2">
<Document>
<name>{device}</name>
<Placemark>
<name>{span}</name>
"""
_TAIL = "</Placemark>\n</Document>\n</kml>\n"
_LINE = "<LineString>\n<extrude>1</extrude>\n<tessellate>1</tessellate>\n"
_POINT = "<Point>\n<extrude>1</extrude>\n"
_COORDINATES = "<altitudeMode>absolute</altitudeMode>\n<coordinates>"


class Kml:
    """One placemark, named by the span: a line, of a single position a point, of none without geometry."""

    def __init__(self, device: str, start: datetime, end: datetime, zone: tzinfo) -> None:
        self._device = device
        self._span = f"{clock_time(start, zone)[:16]} - {clock_time(end, zone)[:16]}"
        self._geometry = ""

    def begin(self, positions: Sequence[Position]) -> bytes:
        """Return everything up to the first coordinates."""
        head = _HEAD.format(device=xml_text(self._device), span=xml_text(self._span))
        if positions:
            # Of a line readers expect two tuples at least.
            self._geometry = "Point" if len(positions) == 1 else "LineString"
            head += (_POINT if len(positions) == 1 else _LINE) + _COORDINATES
        return head.encode()

    def write(self, positions: Sequence[Position]) -> bytes:
        """Return the coordinates."""
        return "".join(
            f"{each.longitude:.6f},{each.latitude:.6f},{each.altitude:.2f} " for each in positions
        ).encode()

    def end(self) -> bytes:
        """Return the end of the document."""
        closing = f"</coordinates>\n</{self._geometry}>\n" if self._geometry else ""
        return (closing + _TAIL).encode()


class Kmz:
    """A ZIP archive with the one member doc.kml, compressed as it is written."""

    def __init__(self, document: PositionWriter, now: datetime) -> None:
        self._document = document
        self._sink = Sink()
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)
        member = zipfile.ZipInfo("doc.kml", time_of_member(now))
        member.compress_type = zipfile.ZIP_DEFLATED
        self._member = self._archive.open(member, "w")

    def begin(self, positions: Sequence[Position]) -> bytes:
        """Return the head of the archive."""
        return self._add(self._document.begin(positions))

    def write(self, positions: Sequence[Position]) -> bytes:
        """Return compressed bytes; none as long as the compressor holds them."""
        return self._add(self._document.write(positions))

    def end(self) -> bytes:
        """Return the rest, and the directory of the archive."""
        self._member.write(self._document.end())
        self._member.close()
        self._archive.close()
        return self._sink.take()

    def _add(self, content: bytes) -> bytes:
        self._member.write(content)
        return self._sink.take()

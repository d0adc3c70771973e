"""GPX 1.0, which in contrast to 1.1 has the course and speed of a point (topografix.com/gpx_manual.asp)."""

from collections.abc import Sequence

from motorpool.api.exports.formats import xml_text
from motorpool.storage.records import Position

METRES_PER_SECOND = 1852 / 3600
"""Of a knot."""


class Gpx:
    """Positions as the points of one track with one segment."""

    def __init__(self, name: str) -> None:
        self._name = name

    def begin(self, positions: Sequence[Position]) -> bytes:
        """Return everything up to the first point."""
        del positions
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<gpx version="1.0" creator="Motorpool" xmlns="http://www.topografix.com/GPX/1/0">\n'
            f"<trk>\n<name>{xml_text(self._name)}</name>\n<trkseg>\n"
        ).encode()

    def write(self, positions: Sequence[Position]) -> bytes:
        """Return the points."""
        return "".join(map(_point, positions)).encode()

    def end(self) -> bytes:
        """Return the end of the document."""
        return b"</trkseg>\n</trk>\n</gpx>\n"


def _point(position: Position) -> str:
    return (
        f'<trkpt lat="{position.latitude:.7f}" lon="{position.longitude:.7f}">'
        f"<ele>{position.altitude:.2f}</ele>"
        f"<time>{position.fix_time.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z</time>"
        f"<course>{position.course % 360:.2f}</course>"
        f"<speed>{position.speed * METRES_PER_SECOND:.3f}</speed></trkpt>\n"
    )

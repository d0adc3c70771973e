"""The track and the accelerations of a crash, which come in parts (docs/protocols/suntech.md#crashes)."""

import re
import struct
from datetime import timedelta
from typing import Final

from motorpool.codecs.devices.suntech.record import Record, read_time
from motorpool.codecs.errors import CodecError
from motorpool.codecs.reader import ByteReader
from motorpool.codecs.reports import Heartbeat, Report

_PART = re.compile(rb"CRR;([^;]*);([0-9]{1,4});([0-9]{1,4});")
_CHECK_BYTES: Final = 3
_SECONDS: Final = (-3, -2, -1, 1)
"""When each place of a crash was, from its time on."""
_READINGS: Final = 100
_PLACE = struct.Struct("<ii")
_ACCELERATIONS = struct.Struct(f"<{3 * _READINGS}h")
_PLACE_BYTES: Final = _PLACE.size + 2 + 2 + _ACCELERATIONS.size
CRASH_BYTES: Final = 6 + len(_SECONDS) * _PLACE_BYTES


class CrashParts:
    """The parts of a crash that have come."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._identity = b""
        self._part = 0
        """Number of the latest part."""

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self._data)

    def clear(self) -> None:
        """Drop the parts."""
        self._data.clear()
        self._identity, self._part = b"", 0

    def add(self, frame: bytes) -> list[Report]:
        """Return the reports of a part: the places of the whole crash with the last one.

        Raises:
            CodecError: it is not a part, or the parts before it are missing.
        """
        found = _PART.match(frame)
        if found is None:
            raise CodecError("a part of a crash without its number")
        identity, part, total = found[1], int(found[2]), int(found[3])
        if identity != self._identity or part != self._part + 1:
            self.clear()
            if part > 1:
                raise CodecError("a part of a crash whose parts before it are missing")
        self._identity, self._part = identity, part
        self._data += frame[found.end() : -1 - _CHECK_BYTES]
        if len(self._data) > 2 * CRASH_BYTES:
            self.clear()
            raise CodecError("the parts of a crash are too long")
        if part < total:
            return [Heartbeat()]
        data = bytes(self._data)
        self.clear()
        return _read_crash(data)


def _read_crash(data: bytes) -> list[Report]:
    if len(data) < CRASH_BYTES:
        raise CodecError("a crash that is cut off")
    reader = ByteReader(data)
    moment = read_time(reader)
    reports: list[Report] = []
    for seconds in _SECONDS:
        record = Record({"type": "CRR"}, moment + timedelta(seconds=seconds), valid=True)
        latitude, longitude = _PLACE.unpack(reader.take(_PLACE.size))
        record.set_place(latitude / 10_000_000, longitude / 10_000_000)
        record.set_motion(reader.uint16() / 100, reader.uint16() / 100)
        values = iter(_ACCELERATIONS.unpack(reader.take(_ACCELERATIONS.size)))
        readings = ",".join(f"[{x},{y},{z}]" for x, y, z in zip(values, values, values, strict=True))
        record.attributes["gSensor"] = f"[{readings}]"
        reports.append(record.report())
    return reports

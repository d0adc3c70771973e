"""CSV (RFC 4180) with a header, one row for each position, and a column for each attribute."""

import json
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any

from motorpool.actors.words.cells import csv_lines, harmless
from motorpool.api.exports.formats import clock_time
from motorpool.storage.records import Position

FIELDS = (
    "id",
    "deviceId",
    "protocol",
    "serverTime",
    "deviceTime",
    "fixTime",
    "valid",
    "latitude",
    "longitude",
    "altitude",
    "speed",
    "course",
    "address",
    "accuracy",
)


class CsvTable:
    """Positions as rows; times are in `zone`, and `keys` are the attributes that have a column."""

    def __init__(self, keys: Sequence[str], zone: tzinfo) -> None:
        self._keys = tuple(keys)
        self._known = frozenset(keys)
        self._zone = zone

    def begin(self, positions: Sequence[Position]) -> bytes:
        """Return the header."""
        del positions
        names = (f"attributes.{key}" if key in FIELDS else key for key in self._keys)
        return csv_lines([[*FIELDS, *map(harmless, names)]])

    def write(self, positions: Sequence[Position]) -> bytes:
        """Return the rows.

        A position with an attribute that has no column was stored after the columns were determined, and is
        left out: the file shows what there was when it was begun.
        """
        return csv_lines(
            [self._row(position) for position in positions if self._known.issuperset(position.attributes)]
        )

    def end(self) -> bytes:
        """Return nothing: rows are all there is."""
        return b""

    def _row(self, position: Position) -> list[object]:
        attributes = position.attributes
        return [
            position.id,
            position.device_id,
            harmless(position.protocol),
            self._time(position.server_time),
            self._time(position.device_time),
            self._time(position.fix_time),
            "true" if position.valid else "false",
            position.latitude,
            position.longitude,
            position.altitude,
            position.speed,
            position.course,
            "" if position.address is None else harmless(position.address),
            position.accuracy,
            *[_cell(attributes.get(key)) for key in self._keys],
        ]

    def _time(self, instant: datetime) -> str:
        return clock_time(instant, self._zone)


def _cell(value: Any) -> object:  # noqa: ANN401 - any JSON value
    match value:
        case None:
            return ""
        case True:
            return "true"
        case False:
            return "false"
        case str():
            return harmless(value)
        case int() | float():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

"""The first and the last position of a device in each day of a span.

What was found out about days that are over is kept, as for trips and stops (docs/decisions/0164).
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from motorpool.actors.reports.days import MAX_DAYS, TICK, Piece, midnight_before, midnights, pieces
from motorpool.actors.reports.figures import EndPoint, end_point
from motorpool.actors.reports.sources import Sources
from motorpool.actors.reports.track import FINISHED, is_covered
from motorpool.storage.database.database import Database
from motorpool.storage.devices import report_days
from motorpool.storage.reports import report_rows

KIND: Final = b"summary 4"
"""Stands for the settings, on which this does not depend, and for the rules by which it was found."""
_STATE: Final = b""


class Period(msgspec.Struct, frozen=True, array_like=True):
    """Positions of a span of time."""

    first: EndPoint
    last: EndPoint


class Days(NamedTuple):
    """A part of a span that is short enough to be cut into local days."""

    begin: datetime
    end: datetime
    """Both included."""
    later: datetime | None
    """Where the next part begins; None: this is the last one."""


async def next_days(
    sources: Sources, device_id: int, start: datetime, end: datetime, zone: tzinfo
) -> Days | None:
    """Return the part of a span that begins with the first day with a position; None if there is none.

    A span may be thousands of years long.
    """
    first = await report_rows.first_fix_time(sources.database, device_id, start, end)
    if first is None:
        return None
    days = list(islice(midnights(first, zone), MAX_DAYS - 1))
    later = days[-1] if days and days[-1] <= end else None
    return Days(max(start, midnight_before(first, zone)), end if later is None else later - TICK, later)


_decoder = msgspec.msgpack.Decoder(Period | None)
_encoder = msgspec.msgpack.Encoder()


async def find_periods(
    sources: Sources, device_id: int, start: datetime, end: datetime, zone: tzinfo, *, kept: bool = True
) -> list[Period]:
    """Return the local days of a span, both ends included, that have positions.

    A very long span is one period. `kept` says whether results of finished days are looked up and stored.
    """
    database = sources.database
    wanted = pieces(start, end, zone)
    finished = sources.system.clock.now() - FINISHED
    keepable = {piece for piece in wanted if kept and piece.is_whole and piece.ends <= finished}
    known: dict[report_days.Key, bytes] = {}
    if keepable:
        known = await report_days.read(database, device_id, KIND, wanted[0].begins, wanted[-1].ends)
    found: dict[Piece, Period | None] = {}
    for piece in keepable:
        stored = known.get((piece.begins, piece.ends, _STATE))
        if stored is not None and await is_covered(database, device_id, piece):
            found[piece] = _decoder.decode(stored)
    version: int | None = None
    if any(piece not in found for piece in keepable):
        # Before the positions are read: what is stored below is refused if they have changed since.
        version = await report_days.version(database, device_id)
    days: list[report_days.Day] = []
    for part in _runs([piece not in found for piece in wanted]):
        missing = wanted[part]
        for piece, period in zip(missing, await _read(database, device_id, missing), strict=True):
            found[piece] = period
            if piece in keepable and await is_covered(database, device_id, piece):
                days.append((piece.begins, piece.ends, _STATE, _encoder.encode(period), None))
    if days and version is not None:
        await report_days.store(database, device_id, version, KIND, days)
    return [period for piece in wanted if (period := found[piece]) is not None]


def _runs(flags: Sequence[bool]) -> list[slice]:
    """Return where flags are set, as slices without gaps."""
    found: list[slice] = []
    for index, flag in enumerate(flags):
        if flag and found and found[-1].stop == index:
            found[-1] = slice(found[-1].start, index + 1)
        elif flag:
            found.append(slice(index, index + 1))
    return found


async def _read(database: Database, device_id: int, missing: Sequence[Piece]) -> list[Period | None]:
    """Read adjoining pieces in one statement."""
    cuts = [piece.begins for piece in missing[1:]]
    rows = await report_rows.period_ends(database, device_id, missing[0].begins, missing[-1].last, cuts=cuts)
    found: list[Period | None] = []
    index = 0
    for piece in missing:
        period = None
        if index < len(rows) and rows[index][0].fix_time < piece.ends:
            first, last = rows[index]
            period = Period(end_point(first), end_point(last))
            index += 1
        found.append(period)
    return found

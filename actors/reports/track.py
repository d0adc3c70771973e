"""Finds the trips and stops of a device in a span of time, day by day (docs/decisions/0164).

Days that are over are kept with the result, and looked up by what it depends on: the device, the day, the
settings and the state of the machine at its beginning.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from typing import NamedTuple

import msgspec

from motorpool.actors.reports.days import TICK, Piece, pieces
from motorpool.actors.reports.figures import EndPoint, end_point
from motorpool.actors.reports.segments import Carry, Segment, Segmenter
from motorpool.actors.reports.sources import Sources
from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance
from motorpool.storage.database.database import Database
from motorpool.storage.devices import report_days
from motorpool.storage.reports import report_rows

LOOK_BACK = timedelta(hours=24)
"""Positions this long before a report are read to continue the state machine."""
FINISHED = timedelta(hours=2)
"""Time after the end of a day at which its result is kept: twice `report_days.LATE`."""
RULES = 2
"""Version of the rules that find trips; what is kept was found by the present one."""
BATCH = 31
"""Pieces whose ends are read, and that are stored, in one statement."""
_EARLIEST = datetime(1, 1, 3, tzinfo=UTC)


class Ends(NamedTuple):
    """A trip or a stop."""

    is_moving: bool
    start: EndPoint
    end: EndPoint
    max_speed: float
    centimetres: int
    """The way from start to end."""


class _Part(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A segment that ends in a piece; it starts where the one before it ends."""

    is_moving: bool
    end: EndPoint
    max_speed: float
    centimetres: int
    """Of the way, what lies in the piece."""


class _Record(msgspec.Struct, frozen=True):
    """What a piece amounts to, given the carry before it."""

    first: EndPoint | None
    """The first position, if there was none in the span before the piece."""
    parts: list[_Part]
    carry: Carry
    """After it; `start` is CARRIED if no segment began in the piece."""


class _Worked(NamedTuple):
    """A piece that was worked out, without the attributes of its positions."""

    piece: Piece
    before: Carry
    segments: list[Segment]
    after: Carry

    @property
    def first(self) -> TrackPoint | None:
        """The first fix, if there was none in the span before the piece."""
        if self.before.start is not None:
            return None
        return self.segments[0].start if self.segments else self.after.start


_decoder = msgspec.json.Decoder(_Record)
_encoder = msgspec.json.Encoder()


async def find_segments(
    sources: Sources,
    device_id: int,
    start: datetime,
    end: datetime,
    settings: TripSettings,
    zone: tzinfo,
    *,
    kept: bool = True,
) -> list[Ends]:
    """Return the trips and stops of a device in a span, both ends included.

    `kept` says whether results of finished days are looked up and stored.
    """
    return (await _run(sources, device_id, start, end, settings, zone, kept=kept)).found


async def find_ways(
    sources: Sources,
    device_id: int,
    start: datetime,
    end: datetime,
    settings: TripSettings,
    zone: tzinfo,
) -> list[tuple[datetime, float]]:
    """Return how far a device came on trips, in metres, in each local day of a span, with the end of the day."""
    run = await _run(sources, device_id, start, end, settings, zone, kept=True)
    return [(piece.ends, centimetres / 100) for piece, centimetres in run.ways]


async def _run(
    sources: Sources,
    device_id: int,
    start: datetime,
    end: datetime,
    settings: TripSettings,
    zone: tzinfo,
    *,
    kept: bool,
) -> "_Run":
    run = _Run(sources, device_id, settings)
    finished = sources.system.clock.now() - FINISHED if kept else datetime.min.replace(tzinfo=UTC)
    await run.find(pieces(start, end, zone), finished)
    return run


class _Run:
    """Works out the pieces of one device in order."""

    def __init__(self, sources: Sources, device_id: int, settings: TripSettings) -> None:
        self._database = sources.database
        self._device_id = device_id
        self._settings = settings
        self._digest = sha256(_encoder.encode((RULES, settings))).digest()[:16]
        self._known: Mapping[report_days.Key, bytes] = {}
        self._version: int | None = None
        """That of the device before positions were read; None while none were."""
        self._finished = datetime.min.replace(tzinfo=UTC)
        self._carry = Carry()
        self._start: EndPoint | None = None
        """Where the present segment began."""
        self._max_speed = 0.0
        self._centimetres = 0
        """Its highest speed and its way before the tail of the carry."""
        self.found: list[Ends] = []
        self.ways: list[tuple[Piece, int]] = []
        """The centimetres that the device came along on trips in each piece."""

    async def find(self, wanted: Sequence[Piece], finished: datetime) -> None:
        self._finished = finished
        if any(self._may_keep(piece) for piece in wanted):
            self._known = await report_days.read(
                self._database, self._device_id, self._digest, wanted[0].begins, wanted[-1].ends
            )
        state = await state_before(self._database, self._device_id, wanted[0].begins, self._settings)
        self._carry = Carry(state, is_moving=state.is_moving)
        index = 0
        while index < len(wanted):
            stored = await self._look_up(wanted[index])
            if stored is not None:
                self._join(wanted[index], stored)
                index += 1
                continue
            if self._version is None and self._finished > _EARLIEST:
                # Before the positions are read: what is stored below is refused if they have changed since.
                self._version = await report_days.version(self._database, self._device_id)
            worked: list[_Worked] = []
            async with aclosing(self._work(wanted[index:])) as results:
                async for each in results:
                    worked.append(each)
                    index += 1
                    if len(worked) == BATCH:
                        break
            for each, record in zip(worked, await self._complete(worked), strict=True):
                self._join(each.piece, record)
        await self._finish()

    def _may_keep(self, piece: Piece) -> bool:
        return piece.is_whole and piece.ends <= self._finished

    async def _look_up(self, piece: Piece) -> _Record | None:
        if not self._known or not self._may_keep(piece):
            return None
        stored = self._known.get((piece.begins, piece.ends, self._carry.key))
        if stored is None or not await is_covered(self._database, self._device_id, piece):
            return None
        return _decoder.decode(stored)

    async def _work(self, wanted: Sequence[Piece]) -> AsyncGenerator[_Worked, None]:
        """Work out pieces from the stored positions, until there is one whose result is kept."""
        rows = report_rows.stream_track(self._database, self._device_id, wanted[0].begins, wanted[-1].last)
        before = self._carry
        segmenter = Segmenter(before.for_piece(), self._settings)
        segments: list[Segment] = []
        present = 0
        async with aclosing(rows):
            async for batch in rows:
                fixes = [TrackPoint(*row.values()) for row in batch]
                while fixes:
                    ends = wanted[present].ends
                    count = len(fixes)
                    if fixes[-1].fix_time >= ends:
                        count = next(i for i, fix in enumerate(fixes) if fix.fix_time >= ends)
                    segments += segmenter.add(fixes[:count])
                    fixes = fixes[count:]
                    if fixes:
                        after = segmenter.carry()
                        yield _Worked(wanted[present], before, segments, after)
                        before, segments = after, []
                        present += 1
                        if self._is_known(wanted[present], before):
                            return
                        segmenter = Segmenter(before.for_piece(), self._settings)
        for piece in wanted[present:]:
            after = segmenter.carry()
            yield _Worked(piece, before, segments, after)
            before, segments = after, []
            segmenter = Segmenter(before.for_piece(), self._settings)

    def _is_known(self, piece: Piece, before: Carry) -> bool:
        return (
            bool(self._known)
            and self._may_keep(piece)
            and (piece.begins, piece.ends, before.key) in self._known
        )

    async def _complete(self, worked: Sequence[_Worked]) -> list[_Record]:
        """Read the ends of segments, and keep the results of finished days."""
        fixes = [fix for each in worked for fix in (each.first, *(part.end for part in each.segments))]
        points, is_complete = await self._points([fix for fix in fixes if fix is not None])
        records = []
        days = []
        for each in worked:
            first = each.first
            record = _Record(
                points[first.position_id] if first is not None else None,
                [
                    _Part(part.is_moving, points[part.end.position_id], part.max_speed, part.centimetres)
                    for part in each.segments
                ],
                each.after.without_start(),
            )
            records.append(record)
            if (
                is_complete
                and self._may_keep(each.piece)
                and await is_covered(self._database, self._device_id, each.piece)
            ):
                row = (each.piece.begins, each.piece.ends, each.before.key, _encoder.encode(record))
                days.append(row)
        if days and self._version is not None:
            await report_days.store(self._database, self._device_id, self._version, self._digest, days)
        return records

    async def _points(self, fixes: Sequence[TrackPoint]) -> tuple[dict[int, EndPoint], bool]:
        """Read positions by their fixes; also return whether all were still there."""
        if not fixes:
            return {}, True
        times = [fix.fix_time for fix in fixes]
        rows = await report_rows.end_positions(
            self._database,
            self._device_id,
            sorted({fix.position_id for fix in fixes}),
            min(times),
            max(times),
        )
        points = {position_id: end_point(position) for position_id, position in rows.items()}
        is_complete = True
        for fix in fixes:
            if fix.position_id not in points:
                is_complete = False
                points[fix.position_id] = EndPoint(fix.position_id, fix.fix_time, fix.latitude, fix.longitude)
        return points, is_complete

    def _join(self, piece: Piece, record: _Record) -> None:
        """Continue with what a piece amounts to."""
        way = record.carry.centimetres if record.carry.is_moving else 0
        self.ways.append((piece, way + sum(part.centimetres for part in record.parts if part.is_moving)))
        if self._start is None:
            self._start = record.first
        for part in record.parts:
            self._close(part.is_moving, part.end, part.max_speed, part.centimetres)
            self._start, self._max_speed, self._centimetres = part.end, 0.0, 0
        self._max_speed = max(self._max_speed, record.carry.max_speed)
        self._centimetres += record.carry.centimetres
        self._carry = record.carry

    def _close(self, is_moving: bool, end: EndPoint, max_speed: float, centimetres: int) -> None:
        start = self._start
        assert start is not None
        if start.position_id != end.position_id:
            highest = max(self._max_speed, max_speed)
            self.found.append(Ends(is_moving, start, end, highest, self._centimetres + centimetres))

    async def _finish(self) -> None:
        """End the last segment with the last position of the span."""
        tail = self._carry.tail
        if self._start is not None and tail:
            points, _ = await self._points(tail[-1:])
            highest = max(fix.speed for fix in tail)
            way = sum(self._carry.steps[1:])
            if self._carry.is_moving:
                piece, before = self.ways[-1]
                self.ways[-1] = (piece, before + way)
            self._close(self._carry.is_moving, points[tail[-1].position_id], highest, way)


async def is_covered(database: Database, device_id: int, piece: Piece) -> bool:
    """Return whether the span holds all positions of the piece, although it may end a moment before."""
    if piece.last + TICK == piece.ends:
        return True
    beyond = await report_rows.first_fix_time(database, device_id, piece.last + TICK, piece.ends - TICK)
    return beyond is None


async def state_before(
    database: Database, device_id: int, instant: datetime, settings: TripSettings
) -> TripState:
    """Return the state of the state machine just before an instant: that after the positions of the 24 hours before,
    or the last one before these if there is none (docs/decisions/0162).
    """
    begin, until = max(instant, _EARLIEST) - LOOK_BACK, max(instant, _EARLIEST) - TICK
    state = TripState()
    async with aclosing(report_rows.pages_of_track(database, device_id, begin, until)) as pages:
        async for rows in pages:
            for row in rows:
                state, _ = advance(state, TrackPoint(*row.values()), settings)
    if state.anchor is None:
        row = await report_rows.last_of_track(database, device_id, until)
        if row is not None:
            state, _ = advance(state, TrackPoint(*row.values()), settings)
    return state

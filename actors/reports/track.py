"""Finds the trips and stops of a device in a span of time, day by day (docs/decisions/0164).

Days that are over are kept with the result, and looked up by what it depends on: the device, the day, the
settings and the state of the machine at its beginning.
"""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec
import trio

from motorpool.actors.reports.days import TICK, Piece, pieces
from motorpool.actors.reports.figures import EndPoint, end_point
from motorpool.actors.reports.segments import Carry, Segment, Segmenter, decode_window
from motorpool.actors.reports.sources import Sources
from motorpool.actors.rules.trip_detection import TrackPoint, TripSettings, TripState, advance
from motorpool.storage.database.database import Database
from motorpool.storage.devices import report_days
from motorpool.storage.reports import report_rows

LOOK_BACK = timedelta(hours=24)
"""Positions this long before a report are read to continue the state machine."""
FINISHED = timedelta(hours=2)
"""Time after the end of a day at which its result is kept: twice `report_days.LATE`."""
RULES = 8
"""Version of the rules that find trips and of how results are kept; others are not looked at."""
BATCH = 31
"""Pieces whose ends are read, and that are stored, in one statement."""
AT_ONCE = 31
"""Kept pieces after which others get their turn: a millisecond."""
_BEFORE: Final = b"before"
"""Stands for the state of the machine in what is kept of the time before a report."""
_EARLIEST = datetime(1, 1, 3, tzinfo=UTC)


class Ends(NamedTuple):
    """A trip or a stop."""

    is_moving: bool
    start: EndPoint
    end: EndPoint
    max_speed: float
    centimetres: int
    """The distance from start to end."""


class _Part(msgspec.Struct, frozen=True, array_like=True):
    """A segment that ends in a piece; it starts where the one before it ends."""

    is_moving: bool
    end: EndPoint
    max_speed: float
    centimetres: int
    """The distance, but what the carry before the piece has counted."""


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """What a piece amounts to, given the carry before it.

    The carry after it, which is many times as large, is kept beside it for whoever works out the next piece.
    """

    first: EndPoint | None
    """The first position, if there was none in the span before the piece."""
    parts: list[_Part]
    after: bytes
    """The key of the carry after it."""
    is_moving: bool
    carried_speed: float
    carried_centimetres: int
    """Of that carry."""
    earlier_steps: list[tuple[datetime, int]]
    """`Segmenter.earlier_steps`"""
    max_speed: float
    """Knots, of its positions."""


class _Worked(NamedTuple):
    """A piece that was worked out, without the attributes of its positions."""

    piece: Piece
    before: Carry
    segments: list[Segment]
    after: Carry
    earlier_steps: list[tuple[datetime, int]]
    max_speed: float

    @property
    def first(self) -> TrackPoint | None:
        """The first point, if there was none in the span before the piece."""
        if self.before.start is not None:
            return None
        return self.segments[0].start if self.segments else self.after.start


class TrackDay(NamedTuple):
    """A local day of a span."""

    ends: datetime
    metres: float
    """On trips."""
    max_speed: float
    """Knots: the highest of the positions that say where the device was; 0 without any."""


class Track(NamedTuple):
    """What a device did in a span."""

    segments: list[Ends]
    days: list[TrackDay]


class _Dropped(Exception):
    """What was kept has been dropped since it was looked up."""


_encoder = msgspec.msgpack.Encoder(enc_hook=list)
_decoder = msgspec.msgpack.Decoder(_Record)
_state_decoder = msgspec.msgpack.Decoder(TripState, dec_hook=decode_window)
_carry_decoder = msgspec.msgpack.Decoder(Carry, dec_hook=decode_window)


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
    return (await find_track(sources, device_id, start, end, settings, zone, kept=kept)).segments


async def find_days(
    sources: Sources,
    device_id: int,
    start: datetime,
    end: datetime,
    settings: TripSettings,
    zone: tzinfo,
    *,
    kept: bool = True,
) -> list[TrackDay]:
    """Return the local days of a span."""
    return (await find_track(sources, device_id, start, end, settings, zone, kept=kept)).days


async def find_track(
    sources: Sources,
    device_id: int,
    start: datetime,
    end: datetime,
    settings: TripSettings,
    zone: tzinfo,
    *,
    kept: bool = True,
) -> Track:
    """Return what both `find_segments` and `find_days` do, worked out once."""
    finished = sources.system.clock.now() - FINISHED if kept else datetime.min.replace(tzinfo=UTC)
    wanted = pieces(start, end, zone)
    run = _Run(sources, device_id, settings, wanted, finished)
    try:
        await run.find()
    except _Dropped:
        run = _Run(sources, device_id, settings, wanted, datetime.min.replace(tzinfo=UTC))
        await run.find()
    days = [
        TrackDay(ends, centimetres / 100, max_speed)
        for ends, centimetres, max_speed in zip(run.ends, run.centimetres, run.max_speeds, strict=True)
    ]
    return Track(run.found, days)


class _Run:
    """Works out the pieces of one device in order."""

    def __init__(
        self,
        sources: Sources,
        device_id: int,
        settings: TripSettings,
        wanted: Sequence[Piece],
        finished: datetime,
    ) -> None:
        """Results of days that end before `finished` are kept."""
        self._database = sources.database
        self._wanted = wanted
        self._finished = finished
        self._device_id = device_id
        self._settings = settings
        self._digest = sha256(_encoder.encode((RULES, settings))).digest()[:16]
        self._known: Mapping[report_days.Key, bytes] = {}
        self._version: int | None = None
        """That of the device before positions were read; None while none were."""
        self._carry: Carry | None = None
        """Where the piece before has ended; None: what is kept of it has that."""
        self._key = b""
        """Its key."""
        self._kept: report_days.Key | None = None
        """What is kept of the piece before, if it was looked up."""
        self._start: EndPoint | None = None
        """Where the present segment began."""
        self._max_speed = 0.0
        self._centimetres = 0
        """Its highest speed and its distance before the tail of the carry."""
        self._is_new = False
        """Whether the device had no positions before the span."""
        self.found: list[Ends] = []
        self.ends = [piece.ends for piece in wanted]
        self.centimetres = [0] * len(wanted)
        """How far the device came on trips in each piece."""
        self.max_speeds = [0.0] * len(wanted)

    async def find(self) -> None:
        """Work out all pieces. Raises _Dropped."""
        wanted = self._wanted
        if any(self._may_keep(piece) for piece in wanted) or self._may_keep_before():
            self._known = await report_days.read(
                self._database,
                self._device_id,
                self._digest,
                wanted[0].begins - LOOK_BACK if self._may_keep_before() else wanted[0].begins,
                wanted[-1].ends,
            )
        state = await self._state_before()
        self._is_new = state.anchor is None
        self._carry = Carry(state, is_moving=state.is_moving)
        self._key = self._carry.key
        index = 0
        while index < len(wanted):
            stored = await self._look_up(wanted[index])
            if stored is not None:
                self._join(index, stored)
                index += 1
                if index % AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()
                continue
            if self._finished > _EARLIEST:
                await self._read_version()
            before = await self._carry_before()
            worked: list[_Worked] = []
            async with aclosing(self._work(wanted[index:], before)) as results:
                async for each in results:
                    worked.append(each)
                    if len(worked) == BATCH:
                        break
            for record in await self._complete(worked):
                self._join(index, record)
                index += 1
            self._carry, self._kept = worked[-1].after.without_start(), None
        await self._finish()

    def _may_keep(self, piece: Piece) -> bool:
        return piece.is_whole and piece.ends <= self._finished

    def _may_keep_before(self) -> bool:
        """Whether the state of the machine before the span may be kept: at midnights that are long over."""
        first = self._wanted[0]
        return first.is_whole and _EARLIEST <= first.begins <= self._finished

    async def _read_version(self) -> None:
        """Read the version before positions: what is stored later is refused if they have changed since."""
        if self._version is None:
            self._version = await report_days.version(self._database, self._device_id)

    async def _state_before(self) -> TripState:
        """Return the state of the machine just before the span.

        It is that after the positions of the 24 hours before, or the last one before these if there is none
        (docs/decisions/0162).
        """
        begins = self._wanted[0].begins
        day = (max(begins, _EARLIEST) - LOOK_BACK, max(begins, _EARLIEST), _BEFORE)
        if stored := self._known.get(day):
            return _state_decoder.decode(stored)
        if self._may_keep_before():
            await self._read_version()
        state = TripState()
        last = day[1] - TICK
        async with aclosing(
            report_rows.pages_of_track(self._database, self._device_id, day[0], last)
        ) as pages:
            async for rows in pages:
                for row in rows:
                    state, _ = advance(state, TrackPoint(*row.values()), self._settings)
        if state.anchor is None:
            found = await report_rows.last_of_track(self._database, self._device_id, last)
            return state if found is None else advance(state, TrackPoint(*found.values()), self._settings)[0]
        if self._may_keep_before():
            await self._store([(*day, _encoder.encode(state), None)])
        return state

    async def _look_up(self, piece: Piece) -> _Record | None:
        if not self._known or not self._may_keep(piece):
            return None
        key = (piece.begins, piece.ends, self._key)
        stored = self._known.get(key)
        if stored is None or not await is_covered(self._database, self._device_id, piece):
            return None
        self._carry, self._kept = None, key
        return _decoder.decode(stored)

    async def _carry_before(self) -> Carry:
        """Return where the piece before has ended. Raises _Dropped."""
        if self._carry is None:
            assert self._kept is not None
            stored = await report_days.read_carry(self._database, self._device_id, self._digest, self._kept)
            if stored is None:
                raise _Dropped
            carry = _carry_decoder.decode(stored)
            if carry.key != self._key:
                # The day has been kept anew meanwhile, with other positions.
                raise _Dropped
            self._carry = carry
        return self._carry

    async def _work(self, wanted: Sequence[Piece], before: Carry) -> AsyncGenerator[_Worked, None]:
        """Work out pieces from the stored positions, until there is one whose result is kept."""
        rows = report_rows.stream_track(self._database, self._device_id, wanted[0].begins, wanted[-1].last)
        segmenter = Segmenter(before.for_piece(), self._settings)
        segments: list[Segment] = []
        present = 0
        async with aclosing(rows):
            async for batch in rows:
                points = [TrackPoint(*row.values()) for row in batch]
                while points:
                    ends = wanted[present].ends
                    count = len(points)
                    if points[-1].fix_time >= ends:
                        count = next(i for i, point in enumerate(points) if point.fix_time >= ends)
                    segments += segmenter.add(points[:count])
                    points = points[count:]
                    if points:
                        after = segmenter.carry()
                        yield _worked(wanted[present], before, segments, after, segmenter)
                        before, segments = after, []
                        present += 1
                        if self._is_known(wanted[present], before):
                            return
                        segmenter = Segmenter(before.for_piece(), self._settings)
        for piece in wanted[present:]:
            after = segmenter.carry()
            yield _worked(piece, before, segments, after, segmenter)
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
        ends = [point for each in worked for point in (each.first, *(part.end for part in each.segments))]
        points, is_complete = await self._points([point for point in ends if point is not None])
        records = []
        days: list[report_days.Day] = []
        for each in worked:
            first = each.first
            record = _Record(
                points[first.position_id] if first is not None else None,
                [
                    _Part(part.is_moving, points[part.end.position_id], part.max_speed, part.centimetres)
                    for part in each.segments
                ],
                each.after.key,
                each.after.is_moving,
                each.after.max_speed,
                each.after.centimetres,
                each.earlier_steps,
                each.max_speed,
            )
            records.append(record)
            if (
                is_complete
                and self._may_keep(each.piece)
                and await is_covered(self._database, self._device_id, each.piece)
            ):
                carry = _encoder.encode(each.after.without_start())
                key = (each.piece.begins, each.piece.ends, each.before.key)
                days.append((*key, _encoder.encode(record), carry))
        await self._store(days)
        return records

    async def _store(self, days: Sequence[report_days.Day]) -> None:
        if days and self._version is not None:
            await report_days.store(self._database, self._device_id, self._version, self._digest, days)

    async def _points(self, wanted: Sequence[TrackPoint]) -> tuple[dict[int, EndPoint], bool]:
        """Read the positions of points; also return whether all were still there."""
        if not wanted:
            return {}, True
        times = [point.fix_time for point in wanted]
        rows = await report_rows.end_positions(
            self._database,
            self._device_id,
            sorted({point.position_id for point in wanted}),
            min(times),
            max(times),
        )
        points = {position_id: end_point(position) for position_id, position in rows.items()}
        is_complete = True
        for point in wanted:
            if point.position_id not in points:
                is_complete = False
                points[point.position_id] = EndPoint(
                    point.position_id, point.fix_time, point.latitude, point.longitude
                )
        return points, is_complete

    def _join(self, index: int, record: _Record) -> None:
        """Continue with what a piece amounts to."""
        on_trips = record.carried_centimetres if record.is_moving else 0
        if self._start is None:
            self._start = record.first
        for part in record.parts:
            if part.is_moving:
                on_trips += part.centimetres
            self._close(part.is_moving, part.end, part.max_speed, part.centimetres)
            self._start, self._max_speed, self._centimetres = part.end, 0.0, 0
        self.centimetres[index] += on_trips - self._count(record.earlier_steps)
        self.max_speeds[index] = record.max_speed
        self._max_speed = max(self._max_speed, record.carried_speed)
        self._centimetres += record.carried_centimetres
        self._key = record.after

    def _count(self, steps: Iterable[tuple[datetime, int]]) -> int:
        """Count steps of trips for the pieces in which they lie; return their sum."""
        total = 0
        for fix_time, centimetres in steps:
            self.centimetres[bisect_right(self.ends, fix_time)] += centimetres
            total += centimetres
        return total

    def _close(self, is_moving: bool, end: EndPoint, max_speed: float, centimetres: int) -> None:
        start = self._start
        assert start is not None
        # It is not known to have stood before its first position.
        is_first = self._is_new and not (self.found or is_moving)
        if is_first and end.fix_time - start.fix_time < self._settings.limits.span:
            return
        if start.position_id != end.position_id:
            highest = max(self._max_speed, max_speed)
            self.found.append(Ends(is_moving, start, end, highest, self._centimetres + centimetres))

    async def _finish(self) -> None:
        """End the last segment with the last position of the span."""
        carry = await self._carry_before()
        if self._start is None or not carry.tail:
            return
        last = carry.tail[-1]
        points, _ = await self._points([last])
        if carry.is_moving:
            times = (point.fix_time for point in carry.tail[1:])
            self._count(zip(times, carry.steps[1:], strict=True))
        self._close(
            carry.is_moving,
            points[last.position_id],
            max(point.speed for point in carry.tail),
            sum(carry.steps[1:]),
        )


def _worked(
    piece: Piece, before: Carry, segments: list[Segment], after: Carry, segmenter: Segmenter
) -> _Worked:
    return _Worked(piece, before, segments, after, segmenter.earlier_steps, segmenter.max_speed)


async def is_covered(database: Database, device_id: int, piece: Piece) -> bool:
    """Return whether the span holds all positions of the piece, although it may end a moment before."""
    if piece.last + TICK == piece.ends:
        return True
    beyond = await report_rows.first_fix_time(database, device_id, piece.last + TICK, piece.ends - TICK)
    return beyond is None

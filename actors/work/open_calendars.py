"""Whether calendars are open at instants of events, without waiting.

Events of many users are handled one after the other, and the calendar of one of them may take a second to be
evaluated. So what is not known is computed in the background, and who asked asks again.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import trio

from motorpool.actors.work.stored_calendars import (
    HEAVY_COST,
    HEAVY_TEXT,
    OPEN,
    TIME_ZONE,
    read_leniently,
    zone_of,
)
from motorpool.codecs.calendars.calendar import block_of, is_open
from motorpool.codecs.calendars.content_lines import CalendarError
from motorpool.runtime import Signal
from motorpool.storage import plain_tables
from motorpool.storage.database.database import Database
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import StorageError
from motorpool.storage.records import Calendar
from motorpool.storage.schedules.calendar_states import CalendarState, calendar_states

MAX_EDGES: Final = 4_000_000
"""Edges of windows that are kept, of all calendars together: 32 MB."""
MAX_WANTED: Final = 10_000
"""Blocks that wait to be computed; others are asked for again later."""
RETRY_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class _Block(NamedTuple):
    """A month of the windows of a calendar, which never change."""

    calendar_id: int
    version: int
    zone: str
    number: int


class OpenCalendars:
    """Computes blocks of windows one after the other; those that are much work wait for each other only.

    Args:
        on_known: called when something that was asked for has been computed.
    """

    def __init__(self, database: Database, on_known: Callable[[], None]) -> None:
        self._database = database
        self._on_known = on_known
        self._known: OrderedDict[_Block, Sequence[float]] = OrderedDict()
        self._edges = 0
        self._light, self._heavy = _Queue(), _Queue()

    async def look(self, q: Queries, calendar_ids: Iterable[int]) -> "CalendarLook":
        """Read, in the transaction of who asks, what the windows of these calendars are determined by."""
        ids = set(calendar_ids) - {0}
        return CalendarLook(self, await calendar_states(q, ids) if ids else {})

    def covers(self, calendar_id: int, state: CalendarState, instant: datetime) -> bool | None:
        """Return whether a calendar is open at an instant; None if that has to be computed first."""
        zone = zone_of({TIME_ZONE: state.timezone}, {TIME_ZONE: state.server_timezone})
        block = _Block(calendar_id, state.version, str(zone), block_of(instant))
        edges = self._known.get(block)
        if edges is None:
            is_heavy = state.cost > HEAVY_COST or state.length > HEAVY_TEXT
            (self._heavy if is_heavy else self._light).put(block)
            return None
        self._known.move_to_end(block)
        return is_open(edges, instant)

    async def run(self) -> None:
        """Compute what is asked for, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._compute_all, self._light)
            nursery.start_soon(self._compute_all, self._heavy)

    async def _compute_all(self, queue: "_Queue") -> None:
        while True:
            block = await queue.first()
            try:
                found = await plain_tables.CALENDARS.fetch_versioned(self._database, block.calendar_id)
            except StorageError as error:
                _log.warning("windows of calendars are not computed yet: %s", error)
                await trio.sleep(RETRY_SECONDS)
                continue
            if found is not None and found.version == block.version:
                self._keep(block, await trio.to_thread.run_sync(_edges_of, found.record, block))
            queue.remove(block)
            self._on_known()

    def _keep(self, block: _Block, edges: Sequence[float]) -> None:
        self._known[block] = edges
        self._edges += 1 + len(edges)
        while self._edges > MAX_EDGES and len(self._known) > 1:
            self._edges -= 1 + len(self._known.popitem(last=False)[1])


class CalendarLook:
    """Calendars as they are at one moment."""

    def __init__(self, calendars: OpenCalendars, states: Mapping[int, CalendarState]) -> None:
        self._calendars = calendars
        self._states = states
        self._answers: dict[tuple[int, datetime], bool | None] = {}

    def covers(self, calendar_id: int, instant: datetime) -> bool | None:
        """Return whether a calendar is open at an instant; None if that has to be computed first.

        One that is gone (0: none), or cannot be read, restricts nothing.
        """
        state = self._states.get(calendar_id)
        if state is None:
            return True
        key = calendar_id, instant
        if key not in self._answers:
            self._answers[key] = self._calendars.covers(calendar_id, state, instant)
        return self._answers[key]


class _Queue:
    """Blocks that are to be computed, each once."""

    def __init__(self) -> None:
        self._blocks: dict[_Block, None] = {}
        self._signal = Signal()

    def put(self, block: _Block) -> None:
        if len(self._blocks) < MAX_WANTED:
            self._blocks[block] = None
            self._signal.set()

    async def first(self) -> _Block:
        while not self._blocks:
            await self._signal.wait()
        return next(iter(self._blocks))

    def remove(self, block: _Block) -> None:
        del self._blocks[block]


def _edges_of(row: Calendar, block: _Block) -> Sequence[float]:
    try:
        calendar = read_leniently(row)
        return calendar.block_edges(block.number, zone_of({TIME_ZONE: block.zone}))
    except CalendarError as error:  # stored before such text was refused
        _log.warning("calendar %d restricts nothing, since it cannot be read: %s", row.id, error)
        return OPEN

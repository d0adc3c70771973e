"""Finds the receivers with due messages in a lane, and gives them turns.

Only the time of the next look is in memory: messages are rows, committed with their cause.
"""

import heapq
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import trio

from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.deliveries.leased_source import LeasedSource, ServicePause
from motorpool.actors.deliveries.turn import Turn
from motorpool.runtime import Context, Signal
from motorpool.storage.database.database import Database
from motorpool.storage.deliveries import receivers
from motorpool.storage.deliveries.queue import UNADOPTED
from motorpool.storage.errors import StorageError

MAX_TURNS = 256
"""Maximum concurrent turns of a lane."""
POLL_SECONDS = 30.0
"""Interval of looks without a wake."""
STORAGE_SECONDS = 10.0
"""Delay before the next attempt when the database is unavailable."""


class LaneSender:
    """Sends the messages of a lane, each at least once unless it expires first."""

    def __init__(self, lane: Lane, holder: str, database: Database, context: Context[Any]) -> None:
        """`holder` tells this server from others."""
        self._lane = lane
        self._holder = holder
        self._database = database
        self._context = context
        self._own = -secrets.randbits(62) - 1
        """This server's receiver for messages to the service of the lane."""
        self._pause = ServicePause(lane.name, context)
        self._slots = trio.CapacityLimiter(lane.max_sending)
        self._turns: dict[int, Turn] = {}
        """By receiver."""
        self._wanted: dict[int, None] = {}
        """Receivers that wait for a turn, in order."""
        self._later: list[tuple[datetime, int]] = []
        """Heap of when receivers are to get a turn."""
        self._look_at = 0.0
        """Monotonic time of the next look at all receivers."""
        self._filled = Signal()

    def wake(self, to: Iterable[int] = ()) -> None:
        """Send to these receivers; without any, look for all with messages."""
        for receiver in to:
            self._want(receiver)
        if not to:
            self._look_at = 0.0
        self._filled.set()

    def _want(self, receiver: int) -> None:
        turn = self._turns.get(receiver)
        if turn is not None:
            turn.wake()
        else:
            self._wanted[receiver] = None

    async def run(self) -> None:
        """Send until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                try:
                    await self._find_due()
                except StorageError as error:
                    self._context.log.warning("cannot read the outbox, retrying later: %s", error)
                    await trio.sleep(STORAGE_SECONDS)
                    continue
                while self._wanted and len(self._turns) < MAX_TURNS:
                    receiver = next(iter(self._wanted))
                    del self._wanted[receiver]
                    source = LeasedSource(
                        self._lane, receiver, self._holder, self._pause, self._database, self._context
                    )
                    turn = Turn(self._lane, source, self._database, self._slots, self._context)
                    self._turns[receiver] = turn
                    nursery.start_soon(self._run_turn, receiver, turn)
                await self._filled.wait(self._idle_seconds())

    async def _find_due(self) -> None:
        clock = self._context.clock
        if clock.monotonic() >= self._look_at:
            self._look_at = clock.monotonic() + POLL_SECONDS
            # Turns that end during the query add theirs.
            self._later = []
            limit = MAX_TURNS + len(self._turns)
            due = await receivers.due(
                self._database, self._lane.name, self._holder, now=clock.now(), limit=limit
            )
            self._later += [(at, self._own if each == UNADOPTED else each) for each, at in due]
            heapq.heapify(self._later)
        while self._later and self._later[0][0] <= clock.now():
            self._want(heapq.heappop(self._later)[1])

    def _idle_seconds(self) -> float:
        clock = self._context.clock
        seconds = self._look_at - clock.monotonic()
        if self._later:
            seconds = min(seconds, (self._later[0][0] - clock.now()).total_seconds())
        return max(seconds, 0.0)

    async def _run_turn(self, receiver: int, turn: Turn) -> None:
        due: datetime | None = None
        try:
            due = await turn.run()
        except StorageError as error:
            self._context.log.warning("messages by %s wait: %s", self._lane.name, error)
            due = self._context.clock.now() + timedelta(seconds=STORAGE_SECONDS)
        finally:
            del self._turns[receiver]
            if turn.woken:
                self._wanted[receiver] = None
            if due is not None:
                heapq.heappush(self._later, (due, receiver))
            self._filled.set()

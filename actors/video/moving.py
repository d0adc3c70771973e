"""How a live stream goes on at another server of the cluster (docs/servers.md#video).

A device that connects to another server goes on sending media to the one before. The new server has the
camera started towards its own address, and lets the former one answer all reads until media come. Then it has
all that can be fetched handed over, with the numbers that the former one gives back, and adds a
discontinuity.
"""

import math
from typing import Protocol

from motorpool.actors.messages.live_stream import HandedOver, StreamState
from motorpool.actors.video.sequence_allocator import SequenceAllocator
from motorpool.runtime import Clock, System
from motorpool.storage.cluster.homes import Home

MOVE_SECONDS = 60.0
"""The former server is relied on for so long, until media come; a server that leaves ends after this time."""
LOST_SECONDS = 10.0
"""A server that has not answered is not asked again for so long."""


class OtherServers(Protocol):
    """Asks the other servers of the cluster."""

    async def let_move(self, system: System, home: Home, stream: tuple[int, int]) -> StreamState | None:
        """Have a server let a stream move; None if it does not answer."""

    async def hand_over(self, system: System, home: Home, stream: tuple[int, int]) -> HandedOver | None:
        """Have a server end a stream, and return what it had; None if it does not answer."""


class Moving:
    """From where one stream moves to this server, and whether it moves from here."""

    def __init__(
        self, stream: tuple[int, int], node: int, others: OtherServers, system: System, clock: Clock
    ) -> None:
        """`node` is the number of this server."""
        self.node = node
        self.former: Home | None = None
        """The server that answers reads."""
        self._stream = stream
        self._others = others
        self._system = system
        self._clock = clock
        self._former_until = 0.0
        self._lost: tuple[int, float] = (0, 0.0)
        """A server that has not answered, and until when it is not asked."""
        self._leaves_until = -math.inf

    # To this server

    @property
    def is_overdue(self) -> bool:
        """Whether the former server has answered for too long."""
        return self.former is not None and self._clock.monotonic() >= self._former_until

    async def find_former(self, numbers: SequenceAllocator) -> bool:
        """Look whether another server has the stream, which answers reads from now on; return whether."""
        now = self._clock.monotonic()
        home = await numbers.other_server(self.node)
        if home is not None and self._lost[0] == home.node and now < self._lost[1]:
            home = None
        self.former, self._former_until = home, now + MOVE_SECONDS
        return home is not None

    def lose(self, node: int) -> bool:
        """Go on without a server that has not answered; return whether it was relied on."""
        if self.former is None or self.former.node != node:
            return False
        self.former = None
        self._lost = node, self._clock.monotonic() + LOST_SECONDS
        return True

    async def let_move(self) -> StreamState | None:
        """Have the former server let the stream move; None if it does not answer."""
        assert self.former is not None
        return await self._others.let_move(self._system, self.former, self._stream)

    async def take(self) -> HandedOver | None:
        """Have the former server end the stream; return what it had, or None if it does not answer.

        It is asked again, and answers reads, until `taken`.
        """
        assert self.former is not None
        return await self._others.hand_over(self._system, self.former, self._stream)

    def taken(self) -> None:
        """Rely on the former server no longer."""
        self.former = None

    # From this server

    @property
    def leaves(self) -> bool:
        """Whether another server is about to take the stream over."""
        return self._clock.monotonic() < self._leaves_until

    def let_go(self) -> None:
        """Expect another server to take it over."""
        self._leaves_until = self._clock.monotonic() + MOVE_SECONDS

    def stay(self) -> None:
        """Expect it no longer: it has been taken over, or media come here again."""
        self._leaves_until = -math.inf

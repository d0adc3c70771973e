"""Sends what this server commits to the other servers of its database (docs/servers.md#changes).

Facts of the change feed go to the others by NOTIFY and are applied there as if they were local. What may have
been missed, while a connection was lost or when a server died in between, is `EverythingChanged`: everything
in memory is read again.
"""

from typing import Never

import msgspec
import trio

from motorpool.actors.change_feed import apply_changes
from motorpool.actors.cluster.broadcasts import NotifyBroadcasts
from motorpool.actors.messages.changes import LOCAL_CHANGES, Change, EverythingChanged, ServerEnded
from motorpool.actors.messages.homes import LIVING_SERVERS, LivingServers
from motorpool.runtime import Actor, Signal
from motorpool.storage.cluster.broadcast import MAX_BYTES, BroadcastChannel, arrays
from motorpool.storage.database import nodes
from motorpool.storage.database.database import Database

CHANNEL = "motorpool_changes"
MAX_UNSENT = 20_000
"""Facts that wait to be sent; beyond it the others read everything again."""
LOOK_SECONDS = 2.0
"""Between two looks at which servers live."""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(tuple[Change, ...])


def texts_of(changes: list[Change]) -> list[str]:
    """Return JSON arrays of the facts, each of at most MAX_BYTES."""
    encoded = (_encoder.encode(change) for change in changes)
    unknown = _encoder.encode(EverythingChanged())
    return arrays(each if len(each) + 2 <= MAX_BYTES else unknown for each in encoded)


class ChangeRelay(Actor[Never]):
    """Sends the commits of this server, and applies the commits of other servers in order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._unsent: list[Change] = []
        self._added = Signal()
        self._ended = Signal()
        """Set when a server is said to be dead."""

    async def start(self) -> None:
        """Note the commits of this server from now on."""
        self.context.listen(LOCAL_CHANGES, self._add)

    def _add(self, changes: tuple[Change, ...]) -> None:
        self._unsent.extend(changes)
        if len(self._unsent) > MAX_UNSENT:
            self._unsent = [EverythingChanged()]
        self._added.set()

    async def run(self) -> None:
        """Send and receive; connect again when the connection is lost."""
        await NotifyBroadcasts(self._database, CHANNEL).serve(self._serve, self.context.log)

    async def _serve(self, channel: BroadcastChannel) -> None:
        # What either side committed before this connection was there may be missing.
        self._add((EverythingChanged(),))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send, channel)
            nursery.start_soon(self._receive, channel)
            nursery.start_soon(self._watch_servers)
            await self._apply(EverythingChanged())

    async def _send(self, channel: BroadcastChannel) -> None:
        while True:
            await self._added.wait()
            changes, self._unsent = self._unsent, []
            await channel.send(texts_of(changes))

    async def _watch_servers(self) -> None:
        living: frozenset[int] = frozenset()
        while True:
            before, living = living, await nodes.living(self._database)
            self.context.system.topic(LIVING_SERVERS).publish(LivingServers(living))
            if before - living:
                # A server may have ended between a commit and its sending.
                await self._apply(EverythingChanged())
            await self._ended.wait(LOOK_SECONDS)

    async def _receive(self, channel: BroadcastChannel) -> None:
        while True:
            text = await channel.receive()
            try:
                changes = _decoder.decode(text)
            except msgspec.DecodeError:
                # Of another release.
                changes = (EverythingChanged(),)
            if any(isinstance(change, ServerEnded) for change in changes):
                self._ended.set()
            await self._apply(*changes)

    async def _apply(self, *changes: Change) -> None:
        await apply_changes(self.context.system, *changes)

"""Actors that live on another node: what stands for them here, and how it finds them.

The factory of a kind makes a `Far` for each key. It asks where the actor lives when it is born, and becomes
the real actor if that is here, with the same mailbox, so that nothing above knows which it is. Else it stays
and hands messages to the link.
"""

from collections.abc import Callable, Collection, Hashable
from contextlib import suppress
from types import CoroutineType
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from motorpool.runtime.actor import Actor
from motorpool.runtime.deferred import Deferred, Failure
from motorpool.runtime.errors import Busy, Unreachable
from motorpool.runtime.kind import K, Kind, M, Request
from motorpool.runtime.link import Arrived, Link, Moved

K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)

MAX_MOVES = 3
"""How often in a row the actor is looked for elsewhere; then its messages are handled here."""


class Whereabouts(msgspec.Struct, frozen=True, gc=False):
    """The node where an actor lives, as of an epoch, which counts its moves."""

    node: int
    epoch: int = 0
    responds: bool = True
    """Whether the node has given a sign of life lately."""


class Placement(Protocol[K_contra]):
    """Knows where actors of one kind live."""

    def known(self, key: K_contra) -> Whereabouts | None:
        """Return where the actor lives, if that is known now."""

    async def locate(self, key: K_contra) -> Whereabouts:
        """Find out where the actor lives."""

    def forget(self, key: K_contra) -> None:
        """Find out again: what is known may be outdated."""


class Far(Actor[M], Generic[K, M]):
    """Stands for an actor until it is found to live here, and then becomes it."""

    def __init__(
        self,
        kind: Kind[K, M],
        key: K,
        link: Link,
        placement: Placement[K],
        here: Callable[[K], Actor[M]],
        *,
        carried: Collection[type],
        ignored: Collection[type],
    ) -> None:
        """`carried` are the classes that go to the other node, `ignored` those that only a real actor needs.

        Any other message, such as that of a connection, says that the actor is to live here.
        """
        self._kind = kind
        self._key = key
        self._link = link
        self._placement = placement
        self._here = here
        self._carried = carried
        self._ignored = ignored
        self._due = 0
        self._moves = 0
        self._gives_up = False
        """Whether the other node was found to be out of reach: the next message is handled here."""

    async def start(self) -> None:
        """Find out where the actor lives."""
        whereabouts = await self._placement.locate(self._key)
        if whereabouts.node == self._link.node:
            await self.context.become(self._here(self._key))

    def may_leave(self) -> bool:
        """Not while answers are due."""
        return self._due == 0

    def handle(self, message: M) -> object:
        """Hand a message to the other node, or become the real actor and handle it."""
        kind = type(message)
        if kind in self._carried:
            whereabouts = self._placement.known(self._key)
            if whereabouts is None:
                return self._locate_and_send(message)
            return self._send(message, whereabouts)
        if kind in self._ignored:
            return None
        if isinstance(message, Arrived):
            return self._handle_arrived(message)
        return self._handle_here(message)

    async def _handle_here(self, message: object) -> object:
        actor = self._here(self._key)
        await self.context.become(actor)
        return await _awaited(actor.handle(cast("M", message)))

    # A message of this node for the actor

    async def _locate_and_send(self, message: M) -> object:
        return await _awaited(self._send(message, await self._placement.locate(self._key)))

    def _send(self, message: M, whereabouts: Whereabouts) -> object:
        try:
            return self._hand_over(message, whereabouts)
        except Busy as error:
            # Who asks is told; who tells waits, so that its pace is that of the other node.
            return Failure(error) if isinstance(message, Request) else self._wait_and_send(message)

    async def _wait_and_send(self, message: M) -> object:
        while True:
            whereabouts = await self._placement.locate(self._key)
            await self._link.wait_room(whereabouts.node)
            with suppress(Busy):
                return await _awaited(self._hand_over(message, whereabouts))

    def _hand_over(self, message: M, whereabouts: Whereabouts) -> object:
        if self._gives_up or whereabouts.node == self._link.node or not whereabouts.responds:
            return self._handle_here(message)
        reply: Deferred[Any] = Deferred()
        try:
            self._link.send(
                whereabouts.node,
                self._kind,
                self._key,
                message,
                lambda outcome: self._settle(message, reply, outcome),
                epoch=whereabouts.epoch,
            )
        except Unreachable:
            # As on a node without a link: the real actor does here what it can.
            return self._handle_here(message)
        self._due += 1
        return reply if isinstance(message, Request) else None

    def _settle(self, message: M, reply: Deferred[Any], outcome: object) -> None:
        self._due -= 1
        if isinstance(outcome, Moved):
            # The rows decide; the other node may have read them before this one, or after.
            self._placement.forget(self._key)
            self._moves += 1
            self._gives_up |= self._moves > MAX_MOVES
        elif isinstance(outcome, Failure) and isinstance(outcome.error, Unreachable):
            self._gives_up = True
        else:
            self._moves = 0
            reply.answer(outcome)
            return
        if not isinstance(message, Request) or reply.is_awaited:
            self.context.handle_again(message, reply)

    # A message of another node, which takes this one for the actor's

    def _handle_arrived(self, message: Arrived) -> object:
        whereabouts = self._placement.known(self._key)
        if whereabouts is None or whereabouts.epoch < message.epoch:
            return self._locate_and_handle(message)
        if whereabouts.node == self._link.node:
            return self._handle_here(message)
        return Moved(whereabouts.node, whereabouts.epoch)

    async def _locate_and_handle(self, message: Arrived) -> object:
        self._placement.forget(self._key)
        whereabouts = await self._placement.locate(self._key)
        if whereabouts.node == self._link.node:
            return await self._handle_here(message)
        return Moved(whereabouts.node, whereabouts.epoch)


async def _awaited(result: object) -> object:
    return await result if type(result) is CoroutineType else result

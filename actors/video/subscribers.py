"""Who takes the cuts of a stream or playback besides its viewers: captures."""

from collections.abc import Callable, Iterable
from typing import Any

import trio

from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.runtime import ActorStopped, MailboxFull, Ref

__all__ = ["Subscribers"]

WAIT_SECONDS = 10.0
"""A taker that takes nothing for so long no longer holds up the others."""


class Subscribers:
    """A list of takers, and the end that each still has to be told. One that has gone is forgotten."""

    def __init__(self) -> None:
        self._joined: dict[Ref[Any], float] = {}
        self._untold: dict[Ref[Any], StreamEnded] = {}

    def __len__(self) -> int:
        return len(self._joined)

    @property
    def joined_at(self) -> float:
        """When the last of them joined; 0 where there is none."""
        return max(self._joined.values(), default=0.0)

    def add(self, subscriber: Ref[Any], now: float) -> None:
        """Hand it all from now on; once, however often it asks."""
        self._untold.pop(subscriber, None)
        self._joined.setdefault(subscriber, now)

    def remove(self, subscriber: Ref[Any], ended: StreamEnded | None = None) -> None:
        """Off the list, and told `ended` if there is anything to tell."""
        self._joined.pop(subscriber, None)
        self._untold.pop(subscriber, None)
        if ended is not None:
            self._untold[subscriber] = ended
            self.tell_ends()

    def pass_on(self, fragments: tuple[MediaFragment, ...]) -> list[Ref[Any]]:
        """Hand cuts to each that has room, and give those that have not: they miss them, unless `wait`."""
        full = []
        message = FragmentsReady(fragments)
        for subscriber in list(self._joined):
            try:
                subscriber.tell_nowait(message)
            except MailboxFull:
                full.append(subscriber)
            except ActorStopped:
                self.remove(subscriber)
        return full

    async def wait(self, full: Iterable[Ref[Any]], fragments: tuple[MediaFragment, ...]) -> list[Ref[Any]]:
        """Wait for room where there was none; gives those that had none for too long, who miss the cuts."""
        missed = []
        for subscriber in full:
            with trio.move_on_after(WAIT_SECONDS) as patience:
                try:
                    await subscriber.tell(FragmentsReady(fragments))
                except ActorStopped:
                    self.remove(subscriber)
            if patience.cancelled_caught:
                missed.append(subscriber)
        return missed

    def end(self, ended: StreamEnded, among: Callable[[float], bool] = lambda joined: True) -> None:
        """Tell the end to those whose time of joining is `among`; they are off the list."""
        for subscriber, joined in list(self._joined.items()):
            if among(joined):
                self.remove(subscriber, ended)

    def tell_ends(self) -> None:
        """Try again to tell the end to those that had no room."""
        for subscriber, ended in list(self._untold.items()):
            try:
                subscriber.tell_nowait(ended)
            except MailboxFull:
                continue
            except ActorStopped:
                pass
            self._untold.pop(subscriber, None)

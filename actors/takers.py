"""Who takes the units of a stream or playback besides its viewers: captures."""

from collections.abc import Callable, Iterable
from typing import Any

import trio

from motorpool.actors.publishing import StreamEnded, UnitsTaken
from motorpool.codecs.media.units import AccessUnit
from motorpool.runtime import ActorStopped, MailboxFull, Ref

__all__ = ["Takers"]

WAIT_SECONDS = 10.0
"""A taker that takes nothing for so long no longer holds up the others."""


class Takers:
    """A list of takers, and what each still has to be told. One that has gone is forgotten."""

    def __init__(self) -> None:
        self._joined: dict[Ref[Any], float] = {}
        self._lossy: set[Ref[Any]] = set()
        self._untold: dict[Ref[Any], StreamEnded] = {}

    def __len__(self) -> int:
        return len(self._joined)

    @property
    def joined_at(self) -> float:
        """When the last of them joined; 0 where there is none."""
        return max(self._joined.values(), default=0.0)

    def add(self, taker: Ref[Any], now: float) -> None:
        """Hand it all from now on; once, however often it asks."""
        self._untold.pop(taker, None)
        self._joined.setdefault(taker, now)

    def remove(self, taker: Ref[Any]) -> None:
        """It wants no more."""
        self._joined.pop(taker, None)
        self._lossy.discard(taker)
        self._untold.pop(taker, None)

    def discontinuity(self) -> None:
        """What follows goes on elsewhere: tell each with the next units."""
        self._lossy.update(self._joined)

    def pass_on(self, units: list[AccessUnit]) -> list[Ref[Any]]:
        """Hand units to each that has room, and give those that have not: they miss them, unless `wait`."""
        full = []
        for taker in list(self._joined):
            try:
                taker.tell_nowait(UnitsTaken(units, taker in self._lossy))
            except MailboxFull:
                full.append(taker)
            except ActorStopped:
                self.remove(taker)
            else:
                self._lossy.discard(taker)
        return full

    async def wait(self, full: Iterable[Ref[Any]], units: list[AccessUnit]) -> None:
        """Wait for room where there was none."""
        for taker in full:
            with trio.move_on_after(WAIT_SECONDS) as patience:
                try:
                    await taker.tell(UnitsTaken(units, taker in self._lossy))
                    self._lossy.discard(taker)
                except ActorStopped:
                    self.remove(taker)
            if patience.cancelled_caught:
                self.missed((taker,))

    def missed(self, full: Iterable[Ref[Any]]) -> None:
        """Tell these with the next units that some are missing."""
        self._lossy.update(full)

    def end(self, reason: str, among: Callable[[float], bool] = lambda joined: True) -> None:
        """Tell the end to those whose time of joining is `among`; they are off the list."""
        for taker, joined in list(self._joined.items()):
            if among(joined):
                self.remove(taker)
                self._untold[taker] = StreamEnded(reason)
        self.tell_ends()

    def tell_ends(self) -> None:
        """Try again to tell the end to those that had no room."""
        for taker, ended in list(self._untold.items()):
            try:
                taker.tell_nowait(ended)
            except MailboxFull:
                continue
            except ActorStopped:
                pass
            del self._untold[taker]

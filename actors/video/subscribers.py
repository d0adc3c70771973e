"""The subscribers of a stream or playback: captures, which take its fragments besides its viewers."""

from collections.abc import Callable, Iterable

import trio

from motorpool.actors.messages.publishing import FragmentsReady, StreamEnded, SubscriberMessage
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.runtime import ActorStopped, MailboxFull, Ref

__all__ = ["Subscribers"]

WAIT_SECONDS = 10.0
"""A subscriber that takes nothing for this long no longer delays the others."""


class Subscribers:
    """Subscribers, and the ends that could not be sent yet. One that has stopped is forgotten."""

    def __init__(self) -> None:
        self.members: dict[Ref[SubscriberMessage], float] = {}
        """When each subscribed, in monotonic seconds."""
        self._unsent_ends: dict[Ref[SubscriberMessage], StreamEnded] = {}

    def __len__(self) -> int:
        return len(self.members)

    @property
    def joined_at(self) -> float:
        """When the last of them subscribed, in monotonic seconds; 0 where there is none."""
        return max(self.members.values(), default=0.0)

    def add(self, subscriber: Ref[SubscriberMessage], now: float) -> None:
        """Send it all fragments from now on; once, however often it subscribes."""
        self._unsent_ends.pop(subscriber, None)
        self.members.setdefault(subscriber, now)

    def remove(self, subscriber: Ref[SubscriberMessage], ended: StreamEnded | None = None) -> None:
        """Send it nothing more but `ended`."""
        self.members.pop(subscriber, None)
        self._unsent_ends.pop(subscriber, None)
        if ended is not None:
            self._unsent_ends[subscriber] = ended
            self.send_ends()

    def send(self, fragments: tuple[MediaFragment, ...]) -> list[Ref[SubscriberMessage]]:
        """Send fragments to all that have room; return those that have not, which miss them unless `wait`."""
        full = []
        message = FragmentsReady(fragments)
        for subscriber in list(self.members):
            try:
                subscriber.tell_nowait(message)
            except MailboxFull:
                full.append(subscriber)
            except ActorStopped:
                self.remove(subscriber)
        return full

    async def wait(
        self, full: Iterable[Ref[SubscriberMessage]], fragments: tuple[MediaFragment, ...]
    ) -> list[Ref[SubscriberMessage]]:
        """Wait for room and send; return those that had none for WAIT_SECONDS, which miss the fragments."""
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

    def end(self, ended: StreamEnded, among: Callable[[float], bool] = lambda joined_at: True) -> None:
        """Remove those whose time of subscribing is `among`, and send them the end."""
        for subscriber, joined_at in list(self.members.items()):
            if among(joined_at):
                self.remove(subscriber, ended)

    def send_ends(self) -> None:
        """Send the end again to those that had no room."""
        for subscriber, ended in list(self._unsent_ends.items()):
            try:
                subscriber.tell_nowait(ended)
            except MailboxFull:
                continue
            except ActorStopped:
                pass
            self._unsent_ends.pop(subscriber, None)

"""The subscribers of a stream or playback: captures, which take its fragments besides its viewers."""

from collections.abc import Iterable

import trio

from motorpool.actors.messages.publishing import (
    FragmentsReady,
    StreamEnded,
    StreamReplaced,
    SubscriberMessage,
)
from motorpool.codecs.media.fragments import MediaFragment
from motorpool.runtime import ActorStopped, MailboxFull, Ref

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
        message = FragmentsReady(fragments)
        return [subscriber for subscriber in full if not await self._send_patiently(subscriber, message)]

    def end(self, ended: StreamEnded) -> None:
        """Remove all, and send them the end."""
        for subscriber in list(self.members):
            self.remove(subscriber, ended)

    async def replace(self, ended: StreamEnded, since: float) -> None:
        """Go on with another playback for those who subscribed after `since`; end the others."""
        for subscriber, joined_at in list(self.members.items()):
            if not (joined_at > since and await self._send_patiently(subscriber, StreamReplaced())):
                self.remove(subscriber, ended)

    async def _send_patiently(self, subscriber: Ref[SubscriberMessage], message: SubscriberMessage) -> bool:
        """Send a message, or return False where there was no room for WAIT_SECONDS."""
        with trio.move_on_after(WAIT_SECONDS) as patience:
            try:
                await subscriber.tell(message)
            except ActorStopped:
                self.remove(subscriber)
        return not patience.cancelled_caught

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

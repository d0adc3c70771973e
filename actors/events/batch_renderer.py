"""Renders the events of a batch: once for all users who read alike, see one zone and get the same words."""

from collections.abc import Mapping

import msgspec
import trio

from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificator import Notificator
from motorpool.actors.events.deliveries import BatchPlan, Manner
from motorpool.actors.events.own_words import OwnWords
from motorpool.actors.events.rendering import Reader, reader_of, render
from motorpool.actors.geocoding.places import near_town
from motorpool.actors.geocoding.towns import Towns
from motorpool.actors.messages.topics import WebEvent
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

USERS_AT_A_TIME = 50
"""Users after whom others get their turn, as after each further text: half a millisecond."""


class BatchRenderer:
    """Renders an event once for all users who read in the same way."""

    def __init__(
        self, plan: BatchPlan, facts: EventFacts, notificators: Mapping[str, Notificator], towns: Towns
    ) -> None:
        self._notificators = notificators
        self._plan = plan
        self._facts = facts
        self._towns = towns
        self._names = {zone.id: zone.name for zone in facts.named_zones}
        self._known: dict[tuple[Reader, str, OwnWords], RenderedMessage] = {}
        self._texts: dict[tuple[int, OwnWords], RenderedMessage] = {}
        """By user, and in which words."""

    async def render(self, recipients: Mapping[int, Manner]) -> None:
        """Render the event for these users; others get their turns meanwhile."""
        for count, (user_id, manner) in enumerate(recipients.items(), 1):
            user = self._plan.users.get(user_id)
            if user is not None and (user_id, manner.words) not in self._texts:
                known = len(self._known)
                self._texts[user_id, manner.words] = self._rendered(user, manner.words)
                if len(self._known) > max(known, 1):
                    await trio.lowlevel.checkpoint()
            if count % USERS_AT_A_TIME == 0:
                await trio.lowlevel.checkpoint()

    def _rendered(self, user: User, words: OwnWords) -> RenderedMessage:
        reader = reader_of(user, self._plan.server)
        key = (reader, self._zone_of(user), words)
        rendered = self._known.get(key)
        if rendered is None:
            rendered = self._known[key] = render(self._facts, reader, key[1] or self._town(reader), words)
        return rendered

    def _zone_of(self, user: User) -> str:
        """Return the name of the smallest zone that the user may see; empty without one."""
        if user.administrator:
            return next(iter(self._names.values()), "")
        zone_id = self._plan.seen_zones.get((self._facts.event.id, user.id))
        return "" if zone_id is None else self._names[zone_id]

    def _town(self, reader: Reader) -> str:
        """Return the town that the device was in or near, where its address is unknown."""
        position = self._facts.position
        if position is None or position.address:
            return ""
        return near_town(position, self._towns, reader.preferences) or ""

    def message(self, name: str, user_id: int, manner: Manner) -> OutgoingMessage | None:
        """Return the message to a user for whom the event was rendered in these words.

        None if they are not reached, or their receiver is paused.
        """
        user, notificator = self._plan.users.get(user_id), self._notificators.get(name)
        if user is None or notificator is None:
            return None
        if (user_id, notificator.lane_of(user)) in self._plan.paused:
            return None
        rendered = self._texts[user_id, manner.words]
        return notificator.message(user, rendered, self._facts, urgent=manner.urgent)

    def web_events(self, recipients: Mapping[int, Manner]) -> list[WebEvent]:
        """Return the event for the sockets of users for whom it was rendered, one for each text."""
        texts: dict[str, set[int]] = {}
        for user_id, manner in recipients.items():
            if (rendered := self._texts.get((user_id, manner.words))) is not None:
                texts.setdefault(rendered.digest, set()).add(user_id)
        event = self._facts.event
        return [
            WebEvent(
                frozenset(each),
                msgspec.structs.replace(event, attributes={**event.attributes, "message": text}),
            )
            for text, each in texts.items()
        ]

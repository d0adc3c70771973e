"""Renders the events of a batch: once for all users with the same language, units, time zone and zone."""

from collections.abc import Iterable, Mapping

import msgspec

from motorpool.actors.deliveries.notice import EventFacts, RenderedMessage
from motorpool.actors.deliveries.notificator import Notificator
from motorpool.actors.events.deliveries import BatchPlan
from motorpool.actors.events.rendering import Reader, reader_of, render
from motorpool.actors.geocoding.places import near_town
from motorpool.actors.geocoding.towns import Towns
from motorpool.actors.messages.topics import WebEvent
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User


class BatchRenderer:
    """Renders an event once for all users who read in the same way."""

    def __init__(
        self, plan: BatchPlan, facts: EventFacts, notificators: Mapping[str, Notificator], towns: Towns
    ) -> None:
        self._notificators = notificators
        self._plan = plan
        self._facts = facts
        self._towns = towns
        self._known: dict[tuple[Reader, str], RenderedMessage] = {}

    def _rendered(self, user: User) -> RenderedMessage:
        reader = reader_of(user, self._plan.server)
        key = (reader, self._zone_of(user))
        rendered = self._known.get(key)
        if rendered is None:
            rendered = self._known[key] = render(self._facts, reader, key[1] or self._town(reader))
        return rendered

    def _zone_of(self, user: User) -> str:
        """Return the name of the smallest zone that the user may see; empty without one."""
        seen = self._plan.seen_zones
        for zone in self._facts.zones:
            if zone.name.strip() and (user.administrator or (user.id, zone.id) in seen):
                return zone.name
        return ""

    def _town(self, reader: Reader) -> str:
        """Return the town that the device was in or near, where its address is unknown."""
        position = self._facts.position
        if position is None or position.address:
            return ""
        return near_town(position, self._towns, reader.preferences) or ""

    def message(self, name: str, user_id: int, *, urgent: bool) -> OutgoingMessage | None:
        """Return the message to a user; None if they are not reached, or their receiver is paused."""
        user, notificator = self._plan.users.get(user_id), self._notificators.get(name)
        if user is None or notificator is None:
            return None
        if (user_id, notificator.lane_of(user)) in self._plan.paused:
            return None
        return notificator.message(user, self._rendered(user), self._facts, urgent=urgent)

    def web_events(self, user_ids: Iterable[int]) -> list[WebEvent]:
        """Return the event for the sockets of these users, one for each text."""
        texts: dict[str, set[int]] = {}
        for user_id in user_ids:
            if (user := self._plan.users.get(user_id)) is not None:
                texts.setdefault(self._rendered(user).digest, set()).add(user_id)
        event = self._facts.event
        return [
            WebEvent(
                frozenset(each),
                msgspec.structs.replace(event, attributes={**event.attributes, "message": text}),
            )
            for text, each in texts.items()
        ]

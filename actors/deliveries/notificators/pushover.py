"""Messages to devices of users of Pushover, by an application (https://pushover.net/api)."""

from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from motorpool.actors.deliveries.lane import Lane
from motorpool.actors.deliveries.notificator import (
    NO_ENVELOPE,
    Envelope,
    Notificator,
    ServiceLane,
    json_object,
    post,
)
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.storage.deliveries.outbox import OutgoingMessage

DEVICES = "pushoverDeviceNames"
"""The attribute of a user that names some of their devices, comma-separated."""
MAX_LENGTH = 1024
MAX_TITLE = 250
"""In characters, by https://pushover.net/api#limits."""
TOO_MANY = 429


@dataclass(frozen=True, kw_only=True)
class PushoverSettings:
    """Notifications by Pushover."""

    token: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """Token of the application that sends notifications; unset: none are sent."""
    url: Annotated[str, Meta(extra={"form": "url", "destination": True})] = "https://api.pushover.net"
    """The API of Pushover."""


class Pushover(Notificator):
    """An application of Pushover."""

    name = "pushover"
    settings = PushoverSettings
    attribute = "pushoverUserKey"

    @property
    def enabled(self) -> bool:
        """Whether there is an application."""
        return self._settings.token is not None

    def lanes(self) -> tuple[Lane, ...]:
        """Return its lane. Each attempt reads the user's device names again."""
        return (ServiceLane(self.name, self, with_account=True),)

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Send a message to the user key `to`."""
        if self._settings.token is None:
            raise Unreachable("no Pushover application is configured")
        body = {
            "token": self._settings.token,
            "user": message.to,
            "title": message.subject[:MAX_TITLE],
            "message": message.text[:MAX_LENGTH],
            "priority": "1" if message.urgent else "0",
        }
        devices = envelope.attributes.get(DEVICES)
        if isinstance(devices, str) and devices:
            body["device"] = devices
        url = f"{self._settings.url.rstrip('/')}/1/messages.json"
        answer = await post(self._http, "Pushover", url, trusted=self._trusted, form=body)
        if answer.ok:
            return
        refused = 400 <= answer.status < 500 and answer.status != TOO_MANY
        if refused and "token" not in json_object(answer):
            raise DeliveryRefused(f"Pushover refuses the user or device ({answer.status})", permanent=True)
        raise Unreachable(f"Pushover answers {answer.status}")

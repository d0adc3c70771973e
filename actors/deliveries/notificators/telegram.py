"""Messages to chats of Telegram, by a bot (https://core.telegram.org/bots/api#sendmessage)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import Meta

from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Notificator, json_object, post
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.storage.deliveries.outbox import OutgoingMessage

MAX_LENGTH = 4096
"""In characters."""
TOO_MANY = 429


@dataclass(frozen=True, kw_only=True)
class TelegramSettings:
    """Notifications by Telegram."""

    token: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """Token of the bot that sends notifications; unset: none are sent."""
    url: Annotated[str, Meta(extra={"form": "url", "destination": True})] = "https://api.telegram.org"
    """The Bot API, which may be a server of your own."""


class Telegram(Notificator):
    """A bot of Telegram."""

    name = "telegram"
    settings = TelegramSettings
    attribute = "telegramChatId"
    sends_text = True

    @property
    def enabled(self) -> bool:
        """Whether there is a bot."""
        return self._settings.token is not None

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Send a message to the chat `to`."""
        del envelope
        if self._settings.token is None:
            raise Unreachable("no Telegram bot is configured")
        body = {"chat_id": message.to, "text": message.text[:MAX_LENGTH]}
        url = f"{self._settings.url.rstrip('/')}/bot{self._settings.token}/sendMessage"
        answer = await post(
            self._http, "Telegram", url, trusted=self._trusted, content=msgspec.json.encode(body)
        )
        if answer.ok:
            return
        if answer.status == TOO_MANY:
            raise Unreachable("Telegram answers 429", retry_seconds=_retry_after(json_object(answer)))
        if answer.status in {400, 403}:
            raise DeliveryRefused(f"Telegram refuses the chat ({answer.status})", permanent=True)
        raise Unreachable(f"Telegram answers {answer.status}")


def _retry_after(answer: Mapping[str, object]) -> float:
    """Return the seconds that Telegram asks to wait (`parameters.retry_after`); 0 if it does not say."""
    parameters = answer.get("parameters")
    value = parameters.get("retry_after") if isinstance(parameters, dict) else None
    return min(float(value), 3600.0) if isinstance(value, int) and value > 0 else 0.0

"""Messages to phones through the services Telegram and Pushover."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, Unreachable
from motorpool.actors.http.http import HttpResponse, OutgoingHttp
from motorpool.storage.deliveries.outbox import OutgoingMessage

TELEGRAM_CHAT = "telegramChatId"
PUSHOVER_USER = "pushoverUserKey"
PUSHOVER_DEVICES = "pushoverDeviceNames"
"""The attributes of a user who gets messages by a service (docs/users.md#preferences)."""
MAX_TELEGRAM_LENGTH = 4096
MAX_PUSHOVER_LENGTH = 1024
MAX_PUSHOVER_TITLE = 250
"""Lengths in characters, by https://core.telegram.org/bots/api#sendmessage and https://pushover.net/api#limits."""
MAX_ANSWER_BYTES = 64 * 1024
TOO_MANY = 429


@dataclass(frozen=True, kw_only=True)
class TelegramService:
    """A bot of Telegram."""

    token: str = field(repr=False)
    url: str = "https://api.telegram.org"
    """Of the Bot API, which may be a server of one's own."""
    seconds: float = 10.0
    """For one request."""


@dataclass(frozen=True, kw_only=True)
class PushoverService:
    """An application of Pushover."""

    token: str = field(repr=False)
    url: str = "https://api.pushover.net"
    seconds: float = 10.0
    """For one request."""


class Telegram:
    """Sends messages as a bot (https://core.telegram.org/bots/api#sendmessage)."""

    def __init__(self, http: OutgoingHttp, service: TelegramService | None = None) -> None:
        self._http = http
        self._service = service

    @property
    def enabled(self) -> bool:
        """Whether there is a bot."""
        return self._service is not None

    async def send(self, message: OutgoingMessage) -> None:
        """Send a message to the chat `to`.

        Raises:
            Unreachable: there is no bot, or the service takes nothing now.
            DeliveryRefused: there is no such chat, or its user has blocked the bot.
        """
        service = self._service
        if service is None:
            raise Unreachable("no Telegram bot is configured")
        body = {"chat_id": message.to, "text": message.text[:MAX_TELEGRAM_LENGTH]}
        answer = await _request(
            self._http,
            "Telegram",
            f"{service.url}/bot{service.token}/sendMessage",
            service.seconds,
            content=msgspec.json.encode(body),
        )
        if answer.ok:
            return
        if answer.status == TOO_MANY:
            raise Unreachable("Telegram answers 429", retry_seconds=_retry_after(_object(answer)))
        if answer.status in {400, 403}:
            raise DeliveryRefused(f"Telegram refuses the chat ({answer.status})", permanent=True)
        raise Unreachable(f"Telegram answers {answer.status}")


class Pushover:
    """Sends messages as an application (https://pushover.net/api)."""

    def __init__(self, http: OutgoingHttp, service: PushoverService | None = None) -> None:
        self._http = http
        self._service = service

    @property
    def enabled(self) -> bool:
        """Whether there is an application."""
        return self._service is not None

    async def send(self, message: OutgoingMessage, *, devices: str = "") -> None:
        """Send a message to the user key `to`; `devices` are names of their devices, comma-separated.

        Raises:
            Unreachable: there is no application, or the service takes nothing now.
            DeliveryRefused: there is no such user or device.
        """
        service = self._service
        if service is None:
            raise Unreachable("no Pushover application is configured")
        body = {
            "token": service.token,
            "user": message.to,
            "title": message.subject[:MAX_PUSHOVER_TITLE],
            "message": message.text[:MAX_PUSHOVER_LENGTH],
            "priority": "1" if message.urgent else "0",
        }
        if devices:
            body["device"] = devices
        answer = await _request(
            self._http,
            "Pushover",
            f"{service.url}/1/messages.json",
            service.seconds,
            form=body,
        )
        if answer.ok:
            return
        complaint = f"Pushover answers {answer.status}"
        if 400 <= answer.status < 500 and answer.status != TOO_MANY and "token" not in _object(answer):
            raise DeliveryRefused(f"Pushover refuses the user or device ({answer.status})", permanent=True)
        raise Unreachable(complaint)


async def _request(
    http: OutgoingHttp,
    name: str,
    url: str,
    seconds: float,
    *,
    content: bytes | None = None,
    form: Mapping[str, str] | None = None,
) -> HttpResponse:
    try:
        return await http.request(
            "POST",
            url,
            trusted=True,
            headers={} if content is None else {"Content-Type": "application/json"},
            content=content,
            form=form,
            seconds=seconds,
            max_bytes=MAX_ANSWER_BYTES,
        )
    except OutgoingError as error:
        # Every other message would fail in the same way.
        raise Unreachable(f"{name} was not reached: {error}") from None


def _object(answer: HttpResponse) -> Mapping[str, object]:
    try:
        found = answer.json()
    except DeliveryRefused:
        return {}
    return found if isinstance(found, dict) else {}


def _retry_after(answer: Mapping[str, object]) -> float:
    """Return the seconds that Telegram asks to wait (`parameters.retry_after`); 0 if it does not say."""
    parameters = answer.get("parameters")
    value = parameters.get("retry_after") if isinstance(parameters, dict) else None
    return min(float(value), 3600.0) if isinstance(value, int) and value > 0 else 0.0

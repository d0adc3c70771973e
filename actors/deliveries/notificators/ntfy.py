"""Messages to topics of ntfy, at ntfy.sh or a server of one's own (https://docs.ntfy.sh/publish/)."""

import base64
import re
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import Meta

from motorpool.actors.deliveries.notificator import NO_ENVELOPE, Envelope, Notificator, post
from motorpool.actors.http.errors import DeliveryRefused, Unreachable
from motorpool.storage.deliveries.outbox import OutgoingMessage
from motorpool.storage.records import User

MAX_BYTES = 4096
"""Longest message in UTF-8; ntfy turns a longer one into a file."""
MAX_TITLE = 250
"""In characters."""
DEFAULT_PRIORITY, HIGH_PRIORITY = 3, 4
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")


@dataclass(frozen=True, kw_only=True)
class NtfySettings:
    """Notifications by ntfy."""

    url: Annotated[str, Meta(extra={"form": "url", "destination": True})] = "https://ntfy.sh"
    """The server, which may be one of your own."""
    token: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """Access token of the account that sends notifications; unset, without `username` or `anonymous`: none
    are."""
    username: str | None = None
    """Name of the account, instead of a token."""
    password: Annotated[str | None, Meta(extra={"secret": True})] = field(default=None, repr=False)
    """The password that belongs to it."""
    anonymous: bool = False
    """Whether notifications are published without an account, where the server lets everybody."""


class Ntfy(Notificator):
    """A server of ntfy."""

    name = "ntfy"
    settings = NtfySettings
    attribute = "ntfyTopic"

    @property
    def enabled(self) -> bool:
        """Whether an account is configured, or anonymous publishing."""
        return bool(self._settings.token or self._settings.username or self._settings.anonymous)

    def address_of(self, user: User) -> str:
        """Return the user's topic; empty without a valid one."""
        topic = super().address_of(user).strip()
        return topic if _TOPIC.fullmatch(topic) else ""

    async def send(self, message: OutgoingMessage, envelope: Envelope = NO_ENVELOPE) -> None:
        """Publish a message to the topic `to`."""
        del envelope
        if not self.enabled:
            raise Unreachable("no server of ntfy is configured")
        body: dict[str, object] = {
            "topic": message.to,
            "message": message.text.encode()[:MAX_BYTES].decode(errors="ignore"),
            "priority": HIGH_PRIORITY if message.urgent else DEFAULT_PRIORITY,
        }
        if message.subject:
            body["title"] = message.subject[:MAX_TITLE]
        if message.link:
            body["click"] = message.link
        url = f"{self._settings.url.rstrip('/')}/"
        content = msgspec.json.encode(body)
        answer = await post(
            self._http, "ntfy", url, trusted=self._trusted, headers=self._headers(), content=content
        )
        if answer.ok:
            return
        if answer.status in {400, 403}:
            raise DeliveryRefused(f"ntfy refuses the topic ({answer.status})", permanent=True)
        raise Unreachable(f"ntfy answers {answer.status}")

    def _headers(self) -> dict[str, str]:
        if self._settings.token:
            return {"Authorization": f"Bearer {self._settings.token}"}
        if self._settings.username:
            account = f"{self._settings.username}:{self._settings.password or ''}"
            return {"Authorization": f"Basic {base64.b64encode(account.encode()).decode()}"}
        return {}

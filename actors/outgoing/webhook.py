"""Webhooks: signed HTTP requests to URLs that users name (docs/events.md#webhooks).

The format is that of Standard Webhooks 1.0.0, so that receivers can check signatures with a library.
"""

import base64
import binascii
import hmac
from collections.abc import Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from urllib.parse import urlsplit

from motorpool.actors.outgoing.errors import DeliveryRefused, OutgoingError, ReceiverGone, Unreachable
from motorpool.actors.outgoing.http import HttpResponse, OutgoingHttp

__all__ = [
    "MIN_SECRET_LENGTH",
    "WEBHOOK_SECRET",
    "WEBHOOK_URL",
    "Webhooks",
    "check_url",
    "refusal",
    "sign",
    "signing_key",
]

WEBHOOK_URL = "webhook.url"
WEBHOOK_SECRET = "webhook.secret"  # noqa: S105 - the name of an attribute
"""The attributes of a user who has a webhook (docs/users.md#preferences)."""
PREFIX = "whsec_"
MIN_SECRET_LENGTH = 16
SECONDS = 15.0
"""For one request."""
CONNECT_SECONDS = 5.0
"""Of these, for the connection to an address."""
MAX_ANSWER_BYTES = 4096
MAX_HOST_LENGTH = 253
MAX_RETRY_SECONDS = 86400.0
"""The longest wait that a receiver may ask for."""
RETRY_LATER = frozenset({429, 502, 503, 504})
GONE = 410


def check_url(url: str) -> bool:
    """Return whether any public address may be named by a URL; else only those of `webhook.allow` may.

    Any: https on port 443, 8443, or 1024 and up.

    Raises:
        DeliveryRefused: it is no URL of a webhook at all.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise DeliveryRefused("this is not a URL", permanent=True, cause="blocked") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or len(parts.hostname) > MAX_HOST_LENGTH:
        raise DeliveryRefused("the URL is not https:// with a host", permanent=True, cause="blocked")
    if "@" in parts.netloc or "#" in url:
        raise DeliveryRefused(
            "the URL holds a user name, a password or a fragment", permanent=True, cause="blocked"
        )
    return parts.scheme == "https" and (port is None or port in (443, 8443) or port >= 1024)


def signing_key(secret: str) -> bytes:
    """Return the key of a secret: what follows `whsec_` in base64, else the bytes of the text.

    Raises:
        DeliveryRefused: the key is shorter than MIN_SECRET_LENGTH bytes, or the text than so many characters.
    """
    if secret.startswith(PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            pass
        else:
            if len(key) < MIN_SECRET_LENGTH:
                raise DeliveryRefused("the secret of the webhook is too short", permanent=True)
            return key
    if len(secret) < MIN_SECRET_LENGTH:
        raise DeliveryRefused("the secret of the webhook is too short", permanent=True)
    return secret.encode()


def sign(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`: one signature for each secret."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(signing_key(secret), content, sha256)).decode()
        for secret in secrets
    )


class Webhooks:
    """Sends messages to webhooks; 2xx alone counts as delivered, and redirects are not followed."""

    def __init__(self, http: OutgoingHttp, user_agent: str = "motorpool") -> None:
        self._http = http
        self._user_agent = user_agent

    async def send(
        self, url: str, body: bytes, *, message_id: str, secrets: Sequence[str] = (), now: datetime
    ) -> None:
        """Send a JSON body. `message_id` is the same at each attempt; without secrets there is no signature.

        Raises:
            Unreachable: no answer in time, or one that asks for a later attempt.
            ReceiverGone: the receiver wants no messages any more.
            DeliveryRefused: any other answer, or a URL that is not permitted.
        """
        answer = await self.post(url, body, message_id=message_id, secrets=secrets, now=now)
        if (error := refusal(answer, now)) is not None:
            raise error

    async def post(
        self, url: str, body: bytes, *, message_id: str, secrets: Sequence[str] = (), now: datetime
    ) -> HttpResponse:
        """Like `send`, but return the answer, whatever its status (`refusal`).

        Raises:
            Unreachable: no answer in time.
            DeliveryRefused: a URL that is not permitted.
        """
        listed_only = not check_url(url)
        timestamp = int(now.timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._user_agent,
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
        }
        if secrets:
            headers["webhook-signature"] = sign(secrets, message_id, timestamp, body)
        return await self._http.request(
            "POST",
            url,
            listed_only=listed_only,
            headers=headers,
            content=body,
            seconds=SECONDS,
            connect_seconds=CONNECT_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
            truncate=True,
        )


def refusal(answer: HttpResponse, now: datetime) -> OutgoingError | None:
    """Return what an answer means: None if the message was delivered, else the error that `send` raises."""
    if answer.ok:
        return None
    complaint = f"the receiver answers {answer.status}"
    if answer.status == GONE:
        return ReceiverGone(complaint)
    if answer.status in RETRY_LATER:
        return Unreachable(complaint, retry_seconds=_retry_seconds(answer, now), cause="status")
    return DeliveryRefused(complaint, cause="status")


def _retry_seconds(answer: HttpResponse, now: datetime) -> float:
    """Return how long the receiver asks to wait (RFC 9110, section 10.2.3); 0 if it does not say."""
    value = answer.headers.get("retry-after", "")
    if value.isascii() and value.isdigit() and len(value) < 10:
        seconds = float(value)
    else:
        try:
            seconds = (parsedate_to_datetime(value) - now).total_seconds()
        except (TypeError, ValueError):
            return 0.0
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)

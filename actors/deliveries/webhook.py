"""Webhooks: signed HTTP requests to URLs that users name (docs/events.md#webhooks).

Standard Webhooks 1.0.0: receivers can check signatures with a library.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from ipaddress import ip_address
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import trio

from motorpool.actors.http.errors import DeliveryRefused, OutgoingError, ReceiverGone, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse

WEBHOOK_URL = "webhook.url"
WEBHOOK_SECRET = "webhook.secret"  # noqa: S105 - the name of an attribute
"""The attributes of a user's webhook (docs/users.md#preferences)."""
PREFIX = "whsec_"
MIN_SECRET_LENGTH = 16
SECONDS = 15.0
"""Timeout of one request."""
CONNECT_SECONDS = 5.0
"""Part of `SECONDS` for connecting to one address."""
IDLE_SECONDS = 5.0
"""How long an idle connection is kept for the next message."""
MAX_ANSWER_BYTES = 4096
MAX_HOST_LENGTH = 253
MAX_RETRY_SECONDS = 86400.0
"""The longest wait that a receiver may ask for."""
RETRY_LATER = frozenset({429, 502, 503, 504})
GONE = 410
_NUMBER = re.compile(r"\d*|0[xX][0-9a-fA-F]*")
_NOT_IN_NAMES = re.compile(r"[\x00-\x20\x7f\"%<>\\^`{|}]")


def check_url(url: str) -> bool:
    """Return whether a URL may name any public address: https on port 443, 8443, or 1024 and up.

    Other URLs may only name addresses in `webhook.allow`.

    Raises:
        DeliveryRefused: the URL cannot be a webhook.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise DeliveryRefused("this is not a URL", permanent=True, cause="blocked") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or len(parts.hostname) > MAX_HOST_LENGTH:
        raise DeliveryRefused("the URL is not https:// with a host", permanent=True, cause="blocked")
    if not _is_host(parts.hostname):
        raise DeliveryRefused("the URL names no host that can be reached", permanent=True, cause="blocked")
    if "@" in parts.netloc or "#" in url:
        raise DeliveryRefused(
            "the URL holds a user name, a password or a fragment", permanent=True, cause="blocked"
        )
    return parts.scheme == "https" and (port is None or port in (443, 8443) or port >= 1024)


def _is_host(host: str) -> bool:
    """Return whether a host is an address in the usual notation, or a name.

    Names that end with a number are refused: resolvers read `2130706433` and `0x7f.1` as 127.0.0.1.
    """
    try:
        ip_address(host)
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2]
        return not _NUMBER.fullmatch(last) and not _NOT_IN_NAMES.search(host)
    return True


def signing_key(secret: str) -> bytes:
    """Return the key of a secret: the base64 after `whsec_`, decoded, or else the bytes of the text.

    Raises:
        DeliveryRefused: shorter than MIN_SECRET_LENGTH, in bytes of the key or characters of the text.
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


class WebhookSession:
    """Posts messages on connections that are kept open; only 2xx counts as delivered.

    Redirects are not followed. Messages that are sent at the same time use different connections. A
    connection that was idle for IDLE_SECONDS is not used again. If the receiver closes a connection without
    an answer, the message is sent once more, so it may arrive twice.
    """

    def __init__(self, http: OutgoingHttp, user_agent: str) -> None:
        self._http = http
        self._headers = {"Content-Type": "application/json", "User-Agent": user_agent}
        self._sessions = {
            listed_only: http.session(
                listed_only=listed_only, connect_seconds=CONNECT_SECONDS, idle_seconds=IDLE_SECONDS
            )
            for listed_only in (False, True)
        }

    async def __aenter__(self) -> Self:
        for session in self._sessions.values():
            await session.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Waits for nothing, but each would raise Cancelled in a cancelled task.
        with trio.CancelScope(shield=True):
            for session in self._sessions.values():
                await session.__aexit__(kind, error, trace)

    async def post(
        self, url: str, body: bytes, *, message_id: str, secrets: Sequence[str] = (), now: datetime
    ) -> HttpResponse:
        """Post a JSON body; return the answer with any status (`refusal` judges it).

        `message_id` is the same for all attempts; without secrets nothing is signed.

        Raises:
            Unreachable: no answer in time.
            DeliveryRefused: the URL is not permitted.
        """
        session = self._sessions[not check_url(url)]
        timestamp = int(now.timestamp())
        headers = {**self._headers, "webhook-id": message_id, "webhook-timestamp": str(timestamp)}
        if secrets:
            headers["webhook-signature"] = sign(secrets, message_id, timestamp, body)
        seconds = await self._acquire_slot()
        try:
            return await session.request(
                "POST",
                url,
                headers=headers,
                content=body,
                seconds=seconds,
                max_bytes=MAX_ANSWER_BYTES,
                truncate=True,
            )
        finally:
            self._http.slots[False].release()

    async def _acquire_slot(self) -> float:
        """Return how many seconds are left for the request."""
        slots = self._http.slots[False]
        try:
            # Unlike acquire(), this lets no other task run.
            slots.acquire_nowait()
        except trio.WouldBlock:
            deadline = trio.current_time() + SECONDS
            with trio.move_on_at(deadline) as waiting:
                await slots.acquire()
            if waiting.cancelled_caught:
                raise Unreachable("too many webhooks are being called", cause="timeout") from None
            return deadline - trio.current_time()
        return SECONDS


class Webhooks:
    """Opens sessions with webhooks."""

    def __init__(self, http: OutgoingHttp, user_agent: str = "motorpool") -> None:
        self._http = http
        self._user_agent = user_agent

    def session(self) -> WebhookSession:
        """Return a session, an async context manager."""
        return WebhookSession(self._http, self._user_agent)

    async def post(
        self, url: str, body: bytes, *, message_id: str, secrets: Sequence[str] = (), now: datetime
    ) -> HttpResponse:
        """Send one message, as in a session."""
        async with self.session() as session:
            return await session.post(url, body, message_id=message_id, secrets=secrets, now=now)


def refusal(answer: HttpResponse, now: datetime) -> OutgoingError | None:
    """Return None if an answer says that the message was delivered, else why it was not."""
    if answer.ok:
        return None
    complaint = f"the receiver answers {answer.status}"
    if answer.status == GONE:
        return ReceiverGone(complaint)
    if answer.status in RETRY_LATER:
        return Unreachable(complaint, retry_seconds=_retry_seconds(answer, now), cause="status")
    return DeliveryRefused(complaint, cause="status")


def _retry_seconds(answer: HttpResponse, now: datetime) -> float:
    """Return the seconds of the Retry-After header (RFC 9110, section 10.2.3); 0 without one."""
    value = answer.headers.get("retry-after", "")
    if value.isascii() and value.isdigit() and len(value) < 10:
        seconds = float(value)
    else:
        try:
            seconds = (parsedate_to_datetime(value) - now).total_seconds()
        except (TypeError, ValueError):
            return 0.0
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)

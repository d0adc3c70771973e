"""The webhook of a company: `attributes.ticketWebhook` (docs/ticket-webhooks.md#settings).

What is stored was checked by `validate_change`, which also writes what clients cannot set: the secret of a
new webhook, the previous secret for a day after a change, and when and why the webhook was disabled.
"""

import base64
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import msgspec

from motorpool.actors.deliveries.webhook import check_url, signing_key
from motorpool.actors.helpdesk.times import format_seconds
from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.http.errors import DeliveryRefused
from motorpool.actors.words.masking import MASK

KEY = "ticketWebhook"
"""The attribute of a company."""
NOTED = "ticket.noted"
TEST = "webhook.test"
"""The type of messages sent by the test operation; it is always wanted."""
TYPES = (
    "ticket.created",
    "ticket.updated",
    "ticket.status_changed",
    "ticket.assigned",
    "ticket.commented",
    NOTED,
    "ticket.sla_warning",
    "ticket.sla_breached",
    "ticket.escalated",
    "ticket.deleted",
)
"""The types of messages about tickets."""
_BY_DEFAULT = frozenset(TYPES) - {NOTED}
MAX_URL_LENGTH = 2048
MAX_SECRET_LENGTH = 256
NEW_SECRET_BYTES = 32
MIN_KEY_BYTES, MAX_KEY_BYTES = 24, 64
"""Length of the key in a secret that begins with `whsec_`."""
PREVIOUS_SECRET = timedelta(hours=24)
"""How long the secret before the present one signs as well."""
_SECRETS = ("secret", "previousSecret")
_DISABLED = ("disabled", "disabledAt", "disabledReason")


class WebhookRefused(ValueError):
    """Settings that cannot be stored; its text is one line."""


class WebhookSettings(msgspec.Struct, frozen=True):
    """Where messages go, which, and what signs them."""

    url: str
    secret: str = ""
    previous_secret: str = ""
    previous_until: datetime | None = None
    """`previous_secret` signs as well before this instant."""
    events: frozenset[str] = _BY_DEFAULT
    """The types of messages that are wanted."""
    thin: bool = False
    """Whether messages hold ids only."""
    disabled: bool = False

    def wants(self, message_type: str) -> bool:
        """Return whether messages of a type are made."""
        return message_type in self.events

    def secrets_at(self, now: datetime) -> tuple[str, ...]:
        """Return the secrets that sign, the present one first."""
        is_valid = (
            bool(self.previous_secret) and self.previous_until is not None and now < self.previous_until
        )
        found = (self.secret, self.previous_secret) if is_valid else (self.secret,)
        return tuple(each for each in found if each)


def read_settings(attributes: Mapping[str, Any]) -> WebhookSettings | None:
    """Return the webhook of a company, from its attributes as they are stored; None if it has none."""
    stored = attributes.get(KEY)
    if not isinstance(stored, dict):
        return None
    url = stored.get("url")
    if not isinstance(url, str) or not url:
        return None
    events = stored.get("events")
    return WebhookSettings(
        url=url,
        secret=_text(stored, "secret"),
        previous_secret=_text(stored, "previousSecret"),
        previous_until=_instant(stored.get("previousUntil")),
        events=frozenset(events) & frozenset(TYPES) if isinstance(events, list) else _BY_DEFAULT,
        thin=stored.get("thin") is True,
        disabled=stored.get("disabled") is True,
    )


def validate_change(
    old: Mapping[str, Any] | None, new: Mapping[str, Any], now: datetime, guard: AddressGuard
) -> dict[str, Any]:
    """Return the attributes to store for a company, whose webhook was checked and completed.

    `old` are its attributes so far, None for a new company; `new` are those that a client sent. A secret that
    is left out, empty or the mask stays as it is; if there is none, one is made. `disabled` that is left out
    stays as it is, so that only an explicit `false` enables a webhook again.

    Raises:
        WebhookRefused: the webhook is not one.
    """
    rest = {name: value for name, value in new.items() if name != KEY}
    sent = new.get(KEY)
    if sent is None:
        return rest
    if not isinstance(sent, dict):
        raise WebhookRefused(f"{KEY}: not an object")
    held = (old or {}).get(KEY)
    stored: dict[str, Any] = held if isinstance(held, dict) else {}
    kept: dict[str, Any] = {"url": _checked_url(sent.get("url"), stored.get("url"), guard)}
    kept |= _checked_secrets(sent, stored, now)
    if (events := _checked_events(sent.get("events"))) is not None:
        kept["events"] = events
    if _flag(sent, "thin"):
        kept["thin"] = True
    is_disabled = _flag(sent, "disabled", default=stored.get("disabled") is True)
    if is_disabled and stored.get("disabled") is True:
        kept |= {name: stored[name] for name in _DISABLED if name in stored}
    elif is_disabled:
        kept |= disabling("disabled by a manager", now)
    return {**rest, KEY: kept}


def mask(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a company's attributes for those who are not its managers: without secrets."""
    stored = attributes.get(KEY)
    if not isinstance(stored, dict):
        return dict(attributes)
    return {
        **attributes,
        KEY: {name: MASK if name in _SECRETS else value for name, value in stored.items()},
    }


def disabling(reason: str, now: datetime) -> dict[str, Any]:
    """Return the keys of a webhook that is disabled, which tell when and why."""
    at = format_seconds(now)
    return {"disabled": True, "disabledAt": at, "disabledReason": reason}


def _checked_url(url: object, known: object, guard: AddressGuard) -> str:
    if not isinstance(url, str) or not url.strip():
        raise WebhookRefused(f"{KEY}.url: needed")
    url = url.strip()
    if len(url) > MAX_URL_LENGTH:
        raise WebhookRefused(f"{KEY}.url: longer than {MAX_URL_LENGTH} characters")
    if url == known:
        return url
    try:
        listed_only = not check_url(url)
        guard.check_host(urlsplit(url).hostname or "", listed_only=listed_only)
    except DeliveryRefused as error:
        raise WebhookRefused(f"{KEY}.url: {error}") from None
    return url


def _checked_secrets(sent: Mapping[str, Any], stored: Mapping[str, Any], now: datetime) -> dict[str, str]:
    """Return the secret to store and, for a day after it was changed, the one before."""
    present, secret = _text(stored, "secret"), sent.get("secret")
    if secret in (None, "", MASK, present):
        new = "whsec_" + base64.b64encode(secrets.token_bytes(NEW_SECRET_BYTES)).decode()
        kept = {"secret": present or new}
        previous_until = _instant(stored.get("previousUntil"))
        if _text(stored, "previousSecret") and previous_until is not None and now < previous_until:
            kept |= {name: stored[name] for name in ("previousSecret", "previousUntil")}
        return kept
    if not isinstance(secret, str) or len(secret) > MAX_SECRET_LENGTH:
        raise WebhookRefused(f"{KEY}.secret: not a text of at most {MAX_SECRET_LENGTH} characters")
    try:
        key = signing_key(secret)
    except DeliveryRefused as error:
        raise WebhookRefused(f"{KEY}.secret: {error}") from None
    is_text = key == secret.encode()
    if secret.startswith("whsec_") and (is_text or not MIN_KEY_BYTES <= len(key) <= MAX_KEY_BYTES):
        raise WebhookRefused(
            f"{KEY}.secret: whsec_ is followed by the base64 of {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes"
        )
    if not present:
        return {"secret": secret}
    until = format_seconds(now + PREVIOUS_SECRET)
    return {"secret": secret, "previousSecret": present, "previousUntil": until}


def _checked_events(events: object) -> list[str] | None:
    if events is None:
        return None
    if not isinstance(events, list) or not events:
        raise WebhookRefused(f"{KEY}.events: not a list of types; leave it out for all")
    for each in events:
        if each not in TYPES:
            raise WebhookRefused(f"{KEY}.events: {str(each)[:40]!r} is not one of {', '.join(TYPES)}")
    return list(dict.fromkeys(events))


def _flag(sent: Mapping[str, Any], name: str, *, default: bool = False) -> bool:
    value = sent.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise WebhookRefused(f"{KEY}.{name}: not true or false")
    return value


def _text(stored: Mapping[str, Any], name: str) -> str:
    value = stored.get(name)
    return value if isinstance(value, str) else ""


def _instant(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None

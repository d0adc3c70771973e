"""Attributes of users, devices, groups, companies and the server that are secrets."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from motorpool.storage.encryption import Keyring

Path = tuple[str, ...]
"""Keys from the outermost to the innermost object."""

HIDDEN: tuple[Path, ...] = (
    # What a device has to know (docs/devices.md#who-a-device-is).
    ("device.secret",),
    # A user's own mail server (docs/events.md#notificators).
    ("mail.smtp.password",),
    # The key that a user's own webhook is signed with.
    ("webhook.secret",),
    # The key that ticket events are signed with (docs/http-api.md#secrets).
    ("ticketWebhook", "secret"),
    ("ticketWebhook", "previousSecret"),
)
"""Secrets that answers never show (actors/words/masking.py)."""
SHOWN: tuple[Path, ...] = (
    # Who knows them can send in the name of the user, or read what they are sent.
    ("webhook.url",),
    ("ntfyTopic",),
    ("pushoverUserKey",),
    # What a tracker asks for before it takes a command.
    ("devicePassword",),
)
"""Secrets that who may read the record sees."""
ENCRYPTED = HIDDEN + SHOWN

_OUTERMOST = frozenset(path[0] for path in ENCRYPTED)
_IN_TEXT = re.compile("|".join(re.escape(msgspec.json.encode(key).decode()) for key in sorted(_OUTERMOST)))


def may_hold(attributes: str) -> bool:
    """Return whether there may be secrets in attributes, which are JSON text from a jsonb column."""
    return _IN_TEXT.search(attributes) is not None


def encrypted(attributes: dict[str, Any], keyring: Keyring, context: str) -> dict[str, Any]:
    """Return attributes with their secrets encrypted; `context` is the place where they are stored."""
    return _changed(attributes, keyring.encrypt, context)


def decrypted(attributes: dict[str, Any], keyring: Keyring, context: str) -> dict[str, Any]:
    """Return attributes with their secrets decrypted."""
    return _changed(attributes, keyring.decrypt, context)


def without_lost(attributes: dict[str, Any], keyring: Keyring, context: str) -> dict[str, Any]:
    """Return stored attributes without the secrets that the keys do not decrypt."""
    return _changed(
        attributes, lambda value, place: None if keyring.is_lost(value, place) else value, context
    )


def _changed(
    attributes: dict[str, Any], change: Callable[[object, str], object], context: str
) -> dict[str, Any]:
    """Return attributes with their secrets changed; those that become None are left out."""
    # Of thousands of devices hardly one has any.
    if _OUTERMOST.isdisjoint(attributes):
        return attributes
    found = dict(attributes)
    for path in ENCRYPTED:
        outer, *inner = path
        if outer not in found:
            continue
        place = f"{context}.{'.'.join(path)}"
        holder, name = found, outer
        if inner:
            if not isinstance(found[outer], dict):
                continue
            holder = found[outer] = dict(found[outer])
            (name,) = inner
        if holder.get(name) not in (None, ""):
            value = change(holder.pop(name), place)
            if value is not None:
                holder[name] = value
    return found

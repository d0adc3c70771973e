"""Secrets inside of `attributes`: they are taken in, used, and never shown again (docs/decisions/0010).

Whoever may edit a record gets it with a mask in place of each secret, and may send that back: the mask means
what is stored, and so does leaving the secret out. Null or an empty text removes it. So does a new host that
it would be told: or who may edit a record would learn its secrets by naming a host of his own.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

__all__ = ["MASK", "SECRETS", "mask_secrets", "restore_secrets"]

R = TypeVar("R", bound=msgspec.Struct)

MASK = "********"

SECRETS: tuple[tuple[str, ...], ...] = (
    # A user's own mail server (docs/events.md#notificators).
    ("mail.smtp.password",),
    # What ticket events are signed with (docs/http-api.md#secrets).
    ("ticketWebhook", "secret"),
)
"""Where they are: keys from the outermost to the innermost object."""

HOST_KEYS = {"mail.smtp.password": "mail.smtp.host"}
"""The key beside a secret that says which host is told it."""

_OUTERMOST = frozenset(path[0] for path in SECRETS)


def mask_secrets(record: R) -> R:
    """The record as anybody may see it; api/json.py shows none otherwise."""
    attributes = _attributes(record)
    if _OUTERMOST.isdisjoint(attributes):
        return record
    for path in SECRETS:
        attributes = _hidden(attributes, path)
    return msgspec.structs.replace(record, attributes=attributes)


def restore_secrets(sent: R, stored: R | None) -> R:
    """What is to be stored in place of `stored`, which is None for a new record."""
    attributes = _attributes(sent)
    known = {} if stored is None else _attributes(stored)
    if _OUTERMOST.isdisjoint(attributes) and _OUTERMOST.isdisjoint(known):
        return sent
    for path in SECRETS:
        attributes = _kept(attributes, known, path)
    return msgspec.structs.replace(sent, attributes=attributes)


def _attributes(record: msgspec.Struct) -> Mapping[str, Any]:
    found: object = getattr(record, "attributes", None)
    return found if isinstance(found, dict) else {}


def _hidden(attributes: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    name, *inner = path
    if name not in attributes:
        return attributes
    value = attributes[name]
    if not inner:
        return {**attributes, name: MASK}
    return {**attributes, name: _hidden(value, tuple(inner))} if isinstance(value, dict) else attributes


def _kept(
    attributes: Mapping[str, Any], known: Mapping[str, Any], path: tuple[str, ...]
) -> Mapping[str, Any]:
    name, *inner = path
    value = attributes.get(name, MASK)
    if inner:
        # An object that is gone took its secret along.
        if not isinstance(attributes.get(name), dict):
            return attributes
        held = known.get(name)
        return {**attributes, name: _kept(value, held if isinstance(held, dict) else {}, tuple(inner))}
    rest = {key: each for key, each in attributes.items() if key != name}
    if value == MASK:
        host = HOST_KEYS.get(name)
        moved = host is not None and attributes.get(host) != known.get(host)
        return {**rest, name: known[name]} if name in known and not moved else rest
    return {**rest, name: value} if value not in (None, "") else rest

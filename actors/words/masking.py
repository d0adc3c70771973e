"""Masking of secrets inside `attributes`: they are stored and used, but never sent out (docs/decisions/0010).

Answers contain a mask in place of each secret. A client that sends the mask back, or leaves the secret out,
keeps the stored one; null or an empty text removes it. A new value for the host that the secret is sent to
removes it as well: otherwise anyone who may edit the record could have it sent to a host of their own.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from motorpool.storage.secret_attributes import HIDDEN

R = TypeVar("R", bound=msgspec.Struct)

MASK = "********"

HOST_KEYS = {"mail.smtp.password": "mail.smtp.host", "webhook.secret": "webhook.url"}
"""Secret -> the key beside it that names the host it is sent to."""

_OUTERMOST = frozenset(path[0] for path in HIDDEN)


def mask_secrets(record: R) -> R:
    """Return the record with secrets masked; actors/words/record_json.py applies this to everything it
    encodes.

    Records of a class whose `shows_secrets` is true are left as they are: their reader may see them.
    """
    attributes = _attributes(record)
    if _OUTERMOST.isdisjoint(attributes) or getattr(record, "shows_secrets", False):
        return record
    return msgspec.structs.replace(record, attributes=without_secrets(attributes))


def without_secrets(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return attributes with the mask in place of each secret.

    For records in which the server finds no secrets, but whose attributes are copied elsewhere.
    """
    for path in HIDDEN:
        attributes = _hidden(attributes, path)
    return attributes


def restore_secrets(sent: R, stored: R | None) -> R:
    """Return the record to store, with secrets of `stored` that were not changed; None for a new record."""
    attributes = _attributes(sent)
    known = {} if stored is None else _attributes(stored)
    if _OUTERMOST.isdisjoint(attributes) and _OUTERMOST.isdisjoint(known):
        return sent
    for path in HIDDEN:
        attributes = _kept(attributes, known, path)
    return msgspec.structs.replace(sent, attributes=attributes)


def _attributes(record: msgspec.Struct) -> Mapping[str, Any]:
    found: object = getattr(record, "attributes", None)
    return found if isinstance(found, dict) else {}


def _hidden(attributes: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any]:
    name, *inner = path
    value = attributes.get(name)
    if value is None:
        return attributes
    if not inner:
        return {**attributes, name: MASK}
    return {**attributes, name: _hidden(value, tuple(inner))} if isinstance(value, dict) else attributes


def _kept(
    attributes: Mapping[str, Any], known: Mapping[str, Any], path: tuple[str, ...]
) -> Mapping[str, Any]:
    name, *inner = path
    value = attributes.get(name, MASK)
    if inner:
        # Removing the object removes its secret.
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

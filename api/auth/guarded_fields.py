"""The fields of a user that decide how they log in, and how the server reaches them
(docs/authentication.md#passwords).

Who has got hold of a session must not be able to take the account by them, or to keep its owner from learning
of it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.deliveries.notificators.mail import PREFIX
from motorpool.actors.deliveries.notificators.pushover import DEVICES
from motorpool.actors.deliveries.webhook import WEBHOOK_SECRET, WEBHOOK_URL
from motorpool.api.json import camel
from motorpool.storage.records import User

FIELDS = ("email", "login", "phone")
ATTRIBUTES = frozenset(
    {WEBHOOK_URL, WEBHOOK_SECRET, DEVICES, *(each.attribute for each in NOTIFICATORS if each.attribute)}
)
"""Where notifications go, beside the mail account of the user, whose attributes begin with `PREFIX`."""


def without_receivers(user: User) -> User:
    """Return the user without what their notifications are sent to, but for the e-mail address."""
    kept = {key: value for key, value in user.attributes.items() if not _is_guarded(key)}
    return msgspec.structs.replace(user, phone=None, attributes=kept)


def guarded_changes(new: User, old: User) -> list[str]:
    """Return the guarded fields and attributes that differ, as the API names them.

    Clients send back the whole user, so what is the same is no change; `new` has the secrets that were not
    sent.
    """
    found = [camel(name) for name in FIELDS if _plain(getattr(new, name)) != _plain(getattr(old, name))]
    return found + sorted(
        key
        for key in {*new.attributes, *old.attributes}
        if _is_guarded(key) and _value(new, key) != _value(old, key)
    )


def _is_guarded(key: str) -> bool:
    return key in ATTRIBUTES or key.startswith(PREFIX)


def _plain(text: str | None) -> str:
    """Return a text so that texts are equal that are stored or compared as one."""
    return (text or "").strip().lower()


def _value(user: User, key: str) -> Any:  # noqa: ANN401 - any JSON value
    attributes: Mapping[str, Any] = user.attributes
    value = attributes.get(key)
    return None if value == "" else value

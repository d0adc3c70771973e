"""What new users get from the server's settings (docs/users.md#creation)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from motorpool.api.auth.rights import RESTRICTION_FIELDS
from motorpool.api.login_settings import UserSettings
from motorpool.storage.records import ServerSettings, User

U = TypeVar("U", bound=User)

DISPLAY_FIELDS = ("map", "latitude", "longitude", "zoom", "coordinate_format", "poi_layer")
"""Fields of the server's settings that are the defaults of all new users."""
SHARED_FLAGS = tuple(flag for flag in RESTRICTION_FIELDS if flag in ServerSettings.__struct_fields__)
"""Restrictions that the server's settings have as well."""


def with_server_values(new: U, server: ServerSettings, fields: Iterable[str]) -> U:
    """Copy these fields of the server's settings to a new user."""
    return msgspec.structs.replace(new, **{name: getattr(server, name) for name in fields})


def with_registration_defaults(new: U, server: ServerSettings, limits: UserSettings, now: datetime) -> U:
    """Give a self-registered user the limits of the settings and the restrictions of new users."""
    expires = None
    if limits.expiration_days:
        expires = (now + timedelta(days=limits.expiration_days)).replace(microsecond=0)
    limited = msgspec.structs.replace(new, device_limit=limits.device_limit, expiration_time=expires)
    return with_server_values(limited, server, SHARED_FLAGS)

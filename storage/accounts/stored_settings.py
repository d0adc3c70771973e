"""Settings that administrators have changed while the server ran (docs/server.md#settings-at-run-time)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import LOCK, Table

Place = tuple[str, str]
"""Section and name."""


class StoredSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A value as JSON; a setting without one is as if it was not stored."""

    id: int = 0
    section: str
    name: str
    value: Any = None
    secret: str | None = None
    """The value of a secret, as the text of its JSON."""


TABLE = Table(
    "settings",
    StoredSetting,
    sort="id",
    keywords=(),
    immutable=frozenset({"section", "name"}),
    secrets=frozenset({"secret"}),
)


class StoredSettings(NamedTuple):
    """All stored settings, and how often they were changed."""

    values: Mapping[Place, Any]
    version: int


async def fetch(q: Queries, *, lock: bool = False) -> StoredSettings:
    """Return all settings; with `lock` no other transaction changes them until this one ends."""
    sql = "select settings_version from installation"
    # Before the rows: with those of a later change, an earlier version only leads to another look.
    version = await q.fetch_value(f"{sql}{LOCK}" if lock else sql)
    rows = await TABLE.select(q, "order by id")
    values = {
        (row.section, row.name): row.value if row.secret is None else json.loads(row.secret) for row in rows
    }
    return StoredSettings({place: value for place, value in values.items() if value is not None}, version)


async def save(transaction: Queries, changes: Mapping[Place, Any], secret: frozenset[Place]) -> None:
    """Store values, and remove those that are None; `secret` are the places that are encrypted.

    The transaction has fetched the settings with `lock`.
    """
    for (section, name), value in changes.items():
        await transaction.execute("delete from settings where section = $1 and name = $2", section, name)
        if value is None:
            continue
        is_secret = (section, name) in secret
        await TABLE.insert(
            transaction,
            StoredSetting(
                section=section,
                name=name,
                value=None if is_secret else value,
                secret=json.dumps(value) if is_secret else None,
            ),
        )
    await transaction.execute("update installation set settings_version = settings_version + 1")

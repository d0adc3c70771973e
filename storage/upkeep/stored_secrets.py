"""Encrypts what is stored with the key that encrypts now, and gives up what no key decrypts
(docs/server.md#secrets-at-rest).
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from motorpool.storage import secret_attributes
from motorpool.storage.accounts import server, signing_keys, stored_settings, tokens, users
from motorpool.storage.database import encryption_keys
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import Table
from motorpool.storage.devices import devices, groups
from motorpool.storage.encryption import Keyring
from motorpool.storage.errors import StorageError
from motorpool.storage.helpdesk.company_tables import COMPANIES
from motorpool.storage.secret_attributes import ENCRYPTED

TABLES: Final[Sequence[Table[Any]]] = (
    users.TABLE,
    devices.TABLE,
    groups.TABLE,
    server.TABLE,
    COMPANIES,
    stored_settings.TABLE,
)
"""Those with secrets."""
KEYS: Final = (("signing_keys", "id", signing_keys.VALUE), ("keys", "name", tokens.KEY_VALUE))
"""Tables of keys with their primary key and the context of their value."""
BATCH: Final = 500
"""Rows of one transaction."""

_log = logging.getLogger(__name__)


async def encrypt_stored(database: Queries) -> None:
    """Encrypt all secrets that the first key has not encrypted; without a key do nothing.

    Other servers may do the same, and write meanwhile: each row is locked while it is changed. What cannot be
    decrypted is left, and told in the log.
    """
    keyring = database.keyring
    if not keyring.ids:
        return
    changed = failed = 0
    for table in TABLES:
        for column in sorted(table.secrets):
            more = await _encrypt_column(database, table, column)
            changed, failed = changed + more[0], failed + more[1]
    for name, key, context in KEYS:
        changed += await _encrypt_keys(database, name, key, context)
    if changed:
        _log.info("%d records with secrets are now encrypted with the key %s", changed, keyring.ids[0])
    if failed:
        return
    for ended in await encryption_keys.end_use(database, keyring):
        _log.info("nothing is encrypted with the key %s any more: it can be removed", ended)


async def _encrypt_column(database: Queries, table: Table[Any], column: str) -> tuple[int, int]:
    """Return how many rows were changed, and how many cannot be."""
    changed = failed = last = 0
    while True:
        async with database.transaction() as transaction:
            rows = await _stale(transaction, table, column, last)
            for row_id, value in rows:
                try:
                    plain = table.decrypted(transaction.keyring, column, value)
                except StorageError as error:
                    failed += 1
                    _log.error("%s %d: %s", table.name, row_id, error)
                    continue
                changed += 1
                await transaction.execute(
                    f'update "{table.name}" set "{column}" = $2 where id = $1',  # noqa: S608 - constant names
                    row_id,
                    table.encrypted(transaction.keyring, column, plain),
                )
        if len(rows) < BATCH:
            return changed, failed
        last = rows[-1][0]


async def _stale(transaction: Queries, table: Table[Any], column: str, last: int) -> list[tuple[int, Any]]:
    """Lock and return rows after `last` with a secret that the first key has not encrypted."""
    if column == "attributes":
        paths = [list(path) for path in ENCRYPTED]
        parts = [f"attributes #>> ${number}::text[]" for number in range(4, 4 + len(paths))]
    else:
        paths, parts = [], [f'"{column}"']
    stale = " or ".join(f"coalesce({part}, '') <> '' and not starts_with({part}, $2)" for part in parts)
    if paths:
        # Of a million devices hardly one has any: the keys of all are looked for at once first.
        stale = f"attributes ?| ${4 + len(paths)}::text[] and ({stale})"
        paths.append(sorted({path[0] for path in ENCRYPTED}))
    sql = (
        f'select id, "{column}" from "{table.name}" where id > $1 and ({stale})'  # noqa: S608 - constant names
        " order by id limit $3 for no key update"
    )
    rows = await transaction.fetch(sql, last, transaction.keyring.pattern, BATCH, *paths)
    return [(row[0], row[1]) for row in rows]


async def _encrypt_keys(database: Queries, name: str, key: str, context: str) -> int:
    pattern = database.keyring.pattern.encode()
    changed = 0
    async with database.transaction() as transaction:
        for row_id, value in (row.values() for row in await transaction.fetch(_keys(name, key))):
            if not value.startswith(pattern):
                plain = transaction.keyring.decrypt_bytes(value, context)
                await transaction.execute(
                    f"update {name} set value = $2 where {key} = $1",  # noqa: S608 - constants
                    row_id,
                    transaction.keyring.encrypt_bytes(plain, context),
                )
                changed += 1
    return changed


class _OnlyShown(Exception):
    """Ends a transaction that was to show what it does."""


async def give_up(database: Queries, keyring: Keyring, *, commit: bool) -> dict[str, int]:
    """Remove what none of these keys decrypts, as theirs is lost; return how many values, by their place.

    `database` is opened without keys; without `commit` nothing is removed. Users whose one-time codes are
    removed log in with their password alone. Keys that sign tokens are made anew, so all tokens and share
    links end.
    """
    removed: dict[str, int] = {}
    with suppress(_OnlyShown):
        async with database.transaction() as transaction:
            for table in TABLES:
                for column in sorted(table.secrets):
                    found = await _give_up_column(transaction, table, column, keyring)
                    removed[f"{table.name}.{column}"] = found
            for name, key, context in KEYS:
                removed[context] = await _give_up_keys(transaction, name, key, context, keyring)
            sql = "delete from encryption_keys where id <> all($1::text[])"
            await transaction.execute(sql, list(keyring.ids))
            if not commit:
                raise _OnlyShown
    return {place: count for place, count in removed.items() if count}


async def _give_up_column(transaction: Queries, table: Table[Any], column: str, keyring: Keyring) -> int:
    context = f"{table.name}.{column}"
    removed = 0
    rows = await transaction.fetch(f'select id, "{column}" from "{table.name}" for no key update')  # noqa: S608 - constant names
    for row_id, value in (row.values() for row in rows):
        kept: object = None if keyring.is_lost(value, context) else value
        if column == "attributes":
            kept = secret_attributes.without_lost(value, keyring, context)
        if kept != value:
            removed += 1
            change = f'"{column}" = $2, version = version + 1'
            await transaction.execute(f'update "{table.name}" set {change} where id = $1', row_id, kept)  # noqa: S608 - constant names
    return removed


async def _give_up_keys(transaction: Queries, name: str, key: str, context: str, keyring: Keyring) -> int:
    rows = await transaction.fetch(_keys(name, key))
    lost = [row[0] for row in rows if keyring.is_lost(row[1], context)]
    for row_id in lost:
        await transaction.execute(f"delete from {name} where {key} = $1", row_id)  # noqa: S608 - constants
    return len(lost)


def _keys(name: str, key: str) -> str:
    return f"select {key}, value from {name} for update"  # noqa: S608 - constants

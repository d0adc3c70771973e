"""The keys that a server encrypts secrets in the database with: where they come from, and whether they fit
(docs/server.md#secrets-at-rest).

The keys themselves are in the settings or in a file of the data folder. The table `encryption_keys` has the
ids of those that are in use.
"""

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import trio

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries
from motorpool.storage.durable_files import sync_folder
from motorpool.storage.encryption import NO_KEYS, Key, Keyring, new_key, parse_key
from motorpool.storage.errors import SetupFailed

FILE = "encryption.key"
"""File in the data folder: a key in each line, the one that encrypts first."""
WHERE = f"the setting encryption.keys or the file {FILE} in the data folder"

_SERVERS_SECONDS = 10.0
"""Time for a server that was killed to be seen as dead; its row is fresh for nodes.LIFE_SECONDS."""
_POLL_SECONDS = 0.25

_log = logging.getLogger(__name__)


def read_keys(configured: Sequence[str], data: Path) -> list[Key]:
    """Return the keys of the settings, then those of the file. Raises SetupFailed for what is no key."""
    path = data / FILE
    try:
        content = path.read_text("utf-8")
    except FileNotFoundError:
        content = ""
    except (OSError, UnicodeDecodeError) as error:
        raise SetupFailed(f"{path} cannot be read: {error}") from None
    return [*_parse(configured, "encryption.keys"), *parse_file(content, str(path))]


def parse_file(content: str, name: str) -> list[Key]:
    """Return the keys in the content of such a file. Raises SetupFailed for what is no key."""
    lines = (line.strip() for line in content.splitlines())
    return _parse([line for line in lines if line and not line.startswith("#")], name)


def _parse(texts: Sequence[str], place: str) -> list[Key]:
    keys = [key for text in texts if (key := parse_key(text)) is not None]
    if len(keys) < len(texts):
        raise SetupFailed(f"{place} holds something that is not the base64 of 32 bytes")
    return keys


def make_key(data: Path) -> Key:
    """Make a key and its file, which nobody else may read; if there is one meanwhile, return that."""
    path, part = data / FILE, data / f".{FILE}.{os.getpid()}"
    text = f"# Without this file the secrets in the database cannot be read.\n{new_key()}\n"
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(part)
        part.unlink()
        sync_folder(data)
    except OSError as error:
        raise SetupFailed(f"{path} cannot be made: {error}") from None
    return read_keys((), data)[0]


async def missing(q: Queries, keyring: Keyring) -> list[str]:
    """Return the ids of keys that are in use and that the keyring lacks."""
    rows = await q.fetch("select id from encryption_keys where id <> all($1::text[])", list(keyring.ids))
    return sorted(row[0] for row in rows)


async def require_all(q: Queries, keyring: Keyring) -> None:
    """Raise SetupFailed if the keyring lacks a key that is in use."""
    absent = await missing(q, keyring)
    if absent:
        raise SetupFailed(
            f"secrets in the database are encrypted with the key {' and '.join(absent)}, which is not here:"
            f" put it into {WHERE} (docs/server.md#secrets-at-rest)"
        )


async def begin_use(
    q: Queries, keyring: Keyring, clock_now: Callable[[], datetime], *, is_alone: bool = False
) -> None:
    """Note that the first key encrypts from now on, before it does.

    `is_alone` says that no other server can use the database, whatever its tables say.

    Raises:
        SetupFailed: another server of the database lacks this key, or this one lacks one that is in use.
    """
    deadline = trio.current_time() + _SERVERS_SECONDS
    while True:
        async with q.transaction() as transaction:
            # Servers that start look at the keys in turn.
            await nodes.block_joining(transaction)
            await require_all(transaction, keyring)
            if not keyring.ids:
                return
            host = None if is_alone else await nodes.lacking_key(transaction, keyring.ids[0])
            if host is None:
                await transaction.execute(
                    "insert into encryption_keys (id, created) values ($1, $2) on conflict do nothing",
                    keyring.ids[0],
                    clock_now(),
                )
                return
        if trio.current_time() > deadline:
            raise SetupFailed(
                f"a server on {host} uses this database without the key {keyring.ids[0]}, which this one"
                f" encrypts with: give it the key by {WHERE}, as its last one, and start it again"
            )
        await trio.sleep(_POLL_SECONDS)


async def end_use(q: Queries, keyring: Keyring) -> list[str]:
    """Forget the keys that encrypt nothing any more, since all was encrypted anew; return their ids.

    Those that another server encrypts with stay.
    """
    rows = await q.fetch(
        f"delete from encryption_keys where id <> $1 and not {nodes.encrypts('encryption_keys.id')}"  # noqa: S608 - constants
        " returning id",
        keyring.ids[0],
    )
    return sorted(row[0] for row in rows)


async def open_keyring(
    q: Queries, configured: Sequence[str], data: Path, *, is_embedded: bool, clock_now: Callable[[], datetime]
) -> Keyring:
    """Return the keys that this server encrypts and decrypts with; an empty keyring encrypts nothing.

    A key is made for the embedded database alone, which lies in the data folder as the file does. With a
    database elsewhere a key in the data folder of one server could be lost before the database is, or be
    missing at another one.

    Raises:
        SetupFailed: a key is missing, or not valid.
    """
    keys = await trio.to_thread.run_sync(read_keys, configured, data)
    if not keys and is_embedded and not await missing(q, NO_KEYS):
        keys = [await trio.to_thread.run_sync(make_key, data)]
        _log.info("made the key %s for secrets in the database: %s", keys[0].id, data / FILE)
    keyring = Keyring(keys)
    await begin_use(q, keyring, clock_now, is_alone=is_embedded)
    return keyring

"""Brings the tables to what this release expects: numbered SQL files, forwards only (docs/decisions/0004)."""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import trio

from motorpool.storage.database import nodes
from motorpool.storage.database.queries import Queries
from motorpool.storage.errors import SetupFailed, StorageError

FOLDER = Path(__file__).parent.parent / "migrations"
LOCK = 0x6D70_6D69
"""Advisory lock held during migrations."""

_log = logging.getLogger(__name__)

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_WAIT_SECONDS = 120.0
_SERVERS_SECONDS = 10.0
"""Time for servers of another release to end; a killed one's row is fresh for nodes.LIFE_SECONDS."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    """From 1, without holes."""
    name: str
    sql: str

    @property
    def title(self) -> str:
        """Number and name, as in the name of its file."""
        return f"{self.number:04}_{self.name}"


def load(folder: Path = FOLDER) -> list[Migration]:
    """Read the steps in order. Raises SetupFailed where a number is missing, doubled, or a name is odd."""
    steps = []
    for path in sorted(folder.glob("*.sql")):
        found = _NAME.fullmatch(path.name)
        if found is None:
            raise SetupFailed(f"{path.name} is no name for a migration (0001_words.sql)")
        steps.append(Migration(int(found[1]), found[2], path.read_text(encoding="utf-8")))
    for expected, step in enumerate(steps, 1):
        if step.number != expected:
            raise SetupFailed(f"migration {expected:04} is missing or doubled before {step.title}")
    return steps


async def migrate(q: Queries, steps: Sequence[Migration], *, clock_now: Callable[[], datetime]) -> int:
    """Apply what is missing, one transaction each; return how many steps that were.

    `q` is a single connection. Servers that start together on one database take turns.

    Raises:
        SetupFailed: the schema is newer than `steps`, or has holes, or another server holds the lock, or one
            uses the tables that are to be changed.
    """
    # Usually nothing is missing, which needs no lock.
    if await q.fetch_value("select to_regclass('schema_migrations')") is not None and await _count_applied(
        q, steps
    ) == len(steps):
        return 0
    await _lock(q)
    try:
        await q.execute(
            "create table if not exists schema_migrations"
            " (number integer primary key, name text not null, applied timestamptz not null)"
        )
        applied = await _count_applied(q, steps)
        if applied < len(steps):
            await _wait_for_servers(q)
            await _apply(q, steps, applied, clock_now)
        return len(steps) - applied
    finally:
        # The lock ends with the connection in any case.
        with trio.move_on_after(_POLL_SECONDS, shield=True), suppress(StorageError):
            await q.execute("select pg_advisory_unlock($1)", LOCK)


async def _apply(
    q: Queries, steps: Sequence[Migration], applied: int, clock_now: Callable[[], datetime]
) -> None:
    """Apply the steps after the first `applied` ones, and tell how it goes; the first tables come at once."""
    level = logging.INFO if applied else logging.DEBUG
    if applied:
        _log.info(
            "migrating the database: %d migrations, from %s to %s; with many positions this may take minutes",
            len(steps) - applied,
            steps[applied - 1].title,
            steps[-1].title,
        )
    began = trio.current_time()
    for step in steps[applied:]:
        step_began = trio.current_time()
        async with q.transaction() as transaction:
            await transaction.execute(step.sql)
            await transaction.execute(
                "insert into schema_migrations values ($1, $2, $3)", step.number, step.name, clock_now()
            )
        _log.log(level, "migration %s took %.1f s", step.title, trio.current_time() - step_began)
    what = "the database is migrated to" if applied else "the tables are created, of"
    _log.info("%s %s, in %.1f s", what, steps[-1].title, trio.current_time() - began)


async def _count_applied(q: Queries, steps: Sequence[Migration]) -> int:
    applied = await q.fetch("select number, name from schema_migrations order by number")
    rows = [(row["number"], row["name"]) for row in applied]
    if rows and rows[-1][0] > len(steps):
        number, name = rows[-1]
        raise SetupFailed(
            f"the database has schema {number} ({name}), this release knows {len(steps)}:"
            " start the newer release"
        )
    for (number, name), step in zip(rows, steps, strict=False):
        if (number, name) != (step.number, step.name):
            raise SetupFailed(
                f"the database has migration {number} ({name}) where {step.number} ({step.name}) must be:"
                " it is not ours, or damaged"
            )
    return len(rows)


async def _wait_for_servers(q: Queries) -> None:
    """Wait until no server uses the database: it would go on with tables of another release."""
    if await q.fetch_value("select to_regclass('nodes')") is None:
        return
    deadline = trio.current_time() + _SERVERS_SECONDS
    while (host := await nodes.retire(q)) is not None:
        if trio.current_time() > deadline:
            raise SetupFailed(
                f"a server on {host} uses this database, and this release changes its tables:"
                " stop all servers first"
            )
        await trio.sleep(_POLL_SECONDS)


async def _lock(q: Queries) -> None:
    with trio.move_on_after(_WAIT_SECONDS):
        # Asked again and again: a server that waits inside a statement could not be stopped.
        while not await q.fetch_value("select pg_try_advisory_lock($1)", LOCK):  # noqa: ASYNC110 - see above
            await trio.sleep(_POLL_SECONDS)
        return
    raise SetupFailed(f"another server has been migrating the database for {_WAIT_SECONDS:.0f} s")

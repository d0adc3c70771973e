"""The database of random histories, where triggers note who owns what and who decides."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from motorpool.bench.cluster.noting import NOTE_OWNERS
from motorpool.bench.cluster.pair import bench_folder
from motorpool.runtime.clock import SystemClock
from motorpool.storage.database import Database, open_database
from motorpool.storage.settings import DatabaseSettings

__all__ = ["empty", "open_histories", "prepare", "settings"]

POOL_SIZE = 20
"""Connections: transactions of frozen servers keep theirs."""
PATIENCE_SECONDS = 60.0
"""An outage of the database is none of the faults."""
DEVICES = 4
_NOTE_EDGES = """
    create table history_edges (edge bigint, epoch bigint);
    create function history_note_edge() returns trigger language plpgsql as $$
    begin
        insert into history_decisions
        values (nextval('history_order'), 'duty schedule', new.epoch, 'edge ' || new.edge);
        return null;
    end
    $$;
    -- At the commit, while the lock of the fence is held.
    create constraint trigger history_edges after insert on history_edges deferrable initially deferred
        for each row execute function history_note_edge();
"""
_EMPTY = "truncate homes, duties, nodes, history_versions, history_decisions, history_edges cascade"


def settings(url: str = "embedded", data: Path = Path("data")) -> DatabaseSettings:
    """Return the settings of a database of histories."""
    return DatabaseSettings(
        url=url,
        data=data,
        pool_size=POOL_SIZE,
        acquire_seconds=PATIENCE_SECONDS,
        connect_seconds=PATIENCE_SECONDS,
        statement_seconds=PATIENCE_SECONDS,
    )


@asynccontextmanager
async def open_histories() -> AsyncIterator[tuple[Database, list[int]]]:
    """Open a database of their own for the body, with what `prepare` returns."""
    with bench_folder() as folder:
        async with open_database(settings(data=folder / "data"), clock_now=SystemClock().now) as database:
            yield database, await prepare(database)


async def prepare(database: Database) -> list[int]:
    """Let the database note decisions and who owns what; return the devices that histories use."""
    await database.execute(NOTE_OWNERS)
    await database.execute(_NOTE_EDGES)
    rows = await database.fetch(
        "insert into devices (name, unique_id) select n, n from generate_series(1, $1::int) n returning id",
        DEVICES,
    )
    return [row[0] for row in rows]


async def empty(database: Database) -> None:
    """Remove what a history has left."""
    await database.execute(_EMPTY)

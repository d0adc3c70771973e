"""The database of random histories, where triggers note who owns what and who decides."""

from motorpool.bench.cluster.noting import NOTE_OWNERS
from motorpool.storage.database.database import Database
from motorpool.storage.settings import DatabaseSettings

POOL_SIZE = 20
"""Connections: transactions of frozen servers keep theirs."""
TIMEOUT_SECONDS = 60.0
"""An outage of the database is none of the faults."""
DEVICES = 4
_PREPARE = """
    -- Found before the one of pg_catalog by sessions that begin later.
    create schema history;
    create sequence history_clock;
    create function history.clock_timestamp() returns timestamptz language plpgsql as $$
    begin
        return to_timestamp((select last_value from history_clock) / 1000000.0);
    end
    $$;
    create table history_deaths (node bigint, fresh_until double precision, declared double precision);
    create function history_note_death() returns trigger language plpgsql as $$
    begin
        insert into history_deaths
        values (new.id, extract(epoch from old.seen_until), extract(epoch from clock_timestamp()));
        return null;
    end
    $$;
    create trigger history_deaths after update on nodes
        for each row when (new.state = 'dead' and old.state <> 'dead') execute function history_note_death();
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
    do $$
    begin
        execute format('alter database %I set search_path = history, pg_catalog, public', current_database());
        -- PostgreSQL itself does not crash in a history.
        execute format('alter database %I set synchronous_commit = off', current_database());
    end
    $$;
"""
_EMPTY = """
    truncate homes, duties, nodes, history_versions, history_decisions, history_edges, history_deaths cascade
"""


def settings(url: str) -> DatabaseSettings:
    """Return the settings of the database of histories at `url`."""
    return DatabaseSettings(
        url=url,
        pool_size=POOL_SIZE,
        acquire_seconds=TIMEOUT_SECONDS,
        connect_seconds=TIMEOUT_SECONDS,
        statement_seconds=TIMEOUT_SECONDS,
    )


async def prepare(database: Database) -> list[int]:
    """Let the database note decisions and who owns what; return the devices that histories use."""
    await database.execute(NOTE_OWNERS)
    await database.execute(_PREPARE)
    database.pool.terminate_idle()
    rows = await database.fetch(
        "insert into devices (name, unique_id) select n, n from generate_series(1, $1::int) n returning id",
        DEVICES,
    )
    return [row[0] for row in rows]


async def set_clock(database: Database, seconds: float) -> None:
    """Set the simulated clock of the servers to `seconds` since the Unix epoch."""
    await database.execute("select setval('history_clock', $1)", max(1, int(seconds * 1_000_000)))


async def empty(database: Database) -> None:
    """Remove what a history has left."""
    await database.execute(_EMPTY)

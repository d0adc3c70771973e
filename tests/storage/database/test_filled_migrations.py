"""Databases of every earlier schema, with rows in each table, through all later migrations."""

from datetime import UTC, datetime

import pytest

from motorpool.storage.database.migrations import load, migrate

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OURS = load()
VALUES = {
    "text": "'{table} {number}'",
    "bigint": "{number}",
    "integer": "{number}",
    "double precision": "{number}.5",
    "boolean": "false",
    "jsonb": "'{{\"key\": {number}}}'",
    "timestamp with time zone": "timestamptz '2026-05-0{number} 12:00Z'",
    "date": "date '2026-05-0{number}'",
    "interval": "interval '{number} minutes'",
    "bytea": "'\\x0{number}'",
    "ARRAY": "'{{{number}}}'",
    "uuid": "'00000000-0000-0000-0000-00000000000{number}'",
    "inet": "'192.0.2.{number}'",
    "cidr": "'192.0.2.{number}/32'",
}
"""What a column of this type holds in row 1 or 2; ids are these numbers, so all references fit."""
CHOSEN = {
    ("tokens", "purpose"): "'session'",
    ("captures", "status"): "'COMPLETE'",
    ("counted_attempts", "times"): "'{{2026-01-0{number}}}'",
    ("mailed_expirations", "kind"): "'user'",
    ("nodes", "state"): "'dead'",
    ("scheduled_command_runs", "phase"): "'start'",
    ("scheduled_command_runs", "status"): "'sent'",
    ("scheduled_commands", "on_start"): "'[{{\"commandId\": {number}}}]'",
    ("scheduled_commands", "on_end"): "'[]'",
    ("ticket_statuses", "kind"): "'open'",
    ("tickets", "status_kind"): "'open'",
}
SINGLE_ROW = {"heartbeats"}
REPLACED = {
    ("queued_commands", "owner_type"),
    ("queued_commands", "owner_id"),
    ("devices", "calendar_id"),
}
"""Columns that a later migration drops, and references to calendars from when there were none."""
TABLES = """
    select c.relname from pg_class c
    where c.relnamespace = 'old'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'schema_migrations'
    order by c.oid
"""
COLUMNS = """
    select column_name, data_type from information_schema.columns
    where table_schema = 'old' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position
"""


@pytest.fixture
async def old(database):
    """One connection in an empty schema of its own, which is rolled back."""
    async with database.transaction() as transaction:
        await transaction.execute("create schema old")
        await transaction.execute("set local search_path to old")
        yield transaction
        await transaction.execute("drop schema old cascade")


async def columns(q, table):
    return [(row[0], row[1]) for row in await q.fetch(COLUMNS, table)]


async def tables(q):
    return [row[0] for row in await q.fetch(TABLES)]


async def fill(q):
    """Two rows in each table that is empty; whatever the order, all references are to rows 1 and 2."""
    await q.execute("set local session_replication_role = replica")
    for table in await tables(q):
        if await q.fetch_value(f"select count(*) from {table}"):
            continue
        known = await columns(q, table)
        for number in (1,) if table in SINGLE_ROW else (1, 2):
            values = [
                CHOSEN.get((table, name), VALUES[kind]).format(table=table, number=number)
                for name, kind in known
            ]
            names = ", ".join(f'"{name}"' for name, _ in known)
            await q.execute(f"insert into {table} ({names}) values ({', '.join(values)})")
    await q.execute("set local session_replication_role = origin")


async def contents(q):
    """Table -> its columns and rows."""
    found = {}
    for table in await tables(q):
        names = [name for name, _ in await columns(q, table)]
        listed = ", ".join(f'"{name}"' for name in names)
        rows = await q.fetch(f"select {listed} from {table}")
        found[table] = [dict(zip(names, row.values(), strict=True)) for row in rows]
    return found


def assert_kept(before, after):
    for table, rows in before.items():
        names = [name for name in rows[0] if (table, name) not in REPLACED] if rows else []
        assert len(after[table]) == len(rows), table
        kept = [{name: row[name] for name in names} for row in after[table]]
        expected = [{name: row[name] for name in names} for row in rows]
        assert sorted(kept, key=repr) == sorted(expected, key=repr), table


@pytest.mark.parametrize("release", [9, len(OURS) - 1])
async def test_the_rows_of_an_older_schema_are_kept(old, release):
    await migrate(old, OURS[:release], clock_now=lambda: NOW)
    await fill(old)
    before = await contents(old)
    assert sum(map(len, before.values())) >= 2 * (len(before) - 3)
    assert await migrate(old, OURS, clock_now=lambda: NOW) == len(OURS) - release
    assert_kept(before, await contents(old))


async def test_the_rows_of_a_database_that_saw_every_release_are_kept(old):
    """Each step runs on filled tables: they are filled as soon as they are there."""
    for release in range(1, len(OURS) + 1):
        before = await contents(old)
        assert await migrate(old, OURS[:release], clock_now=lambda: NOW) == 1
        assert_kept(before, await contents(old))
        await fill(old)

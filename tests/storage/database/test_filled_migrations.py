"""A database with rows in each table, through all migrations, one after the other."""

from datetime import UTC, datetime

import pytest
from tests.storage.filled.loading import contents

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
    ("driver_assignments", "end_time"): "timestamptz '2026-06-0{number} 12:00Z'",
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
COLUMNS = """
    select table_name, column_name, data_type from information_schema.columns
    where table_schema = 'old' and is_generated = 'NEVER' order by table_name, ordinal_position
"""


REPLACED_TABLES = {
    "outbox",
    "outbox_attachments",
    "ticket_messages",
    "ticket_message_attempts",
    "failing_receivers",
    "ticket_webhooks",
}
"""Tables whose rows a later migration carries over into others (tests/storage/filled compares them)."""

CACHES = {"report_days"}
"""Tables whose rows are worked out anew where a migration drops them."""


@pytest.fixture
async def old(database):
    """One connection in an empty schema of its own, which is rolled back."""
    async with database.transaction() as transaction:
        await transaction.execute("create schema old")
        await transaction.execute("set local search_path to old")
        yield transaction
        await transaction.execute("drop schema old cascade")


async def fill(q, empty):
    """Two rows in each of these tables; whatever the order, all references are to rows 1 and 2."""
    known = {table: [] for table in empty}
    for table, name, kind in await q.fetch(COLUMNS):
        if table in known:
            known[table].append((name, kind))
    inserts = ["set local session_replication_role = replica"]
    for table, columns in known.items():
        for number in (1,) if table in SINGLE_ROW else (1, 2):
            values = [
                CHOSEN.get((table, name), VALUES[kind]).format(table=table, number=number)
                for name, kind in columns
            ]
            names = ", ".join(f'"{name}"' for name, _ in columns)
            inserts.append(f"insert into {table} ({names}) values ({', '.join(values)})")
    await q.execute("; ".join([*inserts, "set local session_replication_role = origin"]))


async def read(q):
    found = await contents(q)
    del found["sequences"], found["schema_migrations"]
    return found


def assert_kept(before, after):
    for table, rows in before.items():
        if table in REPLACED_TABLES and table not in after:
            continue
        if table in CACHES and not after[table]:
            continue
        names = [name for name in rows[0] if (table, name) not in REPLACED]
        kept = [{name: row[name] for name in names} for row in after[table]]
        expected = [{name: row[name] for name in names} for row in rows]
        assert sorted(kept, key=repr) == sorted(expected, key=repr), table


async def test_the_rows_of_a_database_that_saw_every_release_are_kept(old):
    """Each step runs on filled tables: they are filled as soon as they are there."""
    before = {}
    for release in range(1, len(OURS) + 1):
        assert await migrate(old, OURS[:release], clock_now=lambda: NOW) == 1
        after = await read(old)
        assert_kept(before, after)
        if empty := [table for table, rows in after.items() if not rows]:
            await fill(old, empty)
            after = await read(old)
        assert all(after.values())
        before = after

"""Databases that were in use before there was a default retention."""

import pytest

from motorpool.storage.database import migrations
from motorpool.storage.database.installation import has_retention_defaults
from motorpool.storage.errors import StatementRejected

STEP = next(step for step in migrations.load() if step.name == "retention")
USED = {
    "new": "",
    "user": "insert into users (name, email, password_hash) values ('a', 'a@example.org', '')",
    "device": "insert into devices (name, unique_id) values ('a', '1')",
    "audit": "insert into audit (action_time, action_type) values (now(), 'login')",
}


async def test_a_new_database_has_the_defaults(database):
    assert await has_retention_defaults(database)


@pytest.mark.parametrize("use", list(USED))
async def test_a_database_that_was_in_use_before_keeps_what_it_has(database, use):
    with pytest.raises(StatementRejected, match="undo"):
        await apply_after(database, USED[use], use == "new")


async def apply_after(database, sql, expected):
    async with database.transaction() as transaction:
        await transaction.execute(f"drop table installation; drop index events_event_time; {sql}")
        await transaction.execute(STEP.sql)
        assert await has_retention_defaults(transaction) == expected
        raise StatementRejected("undo")

import re
from datetime import UTC, datetime

import pytest
import trio

from motorpool.storage.database import migrations, nodes
from motorpool.storage.database.database import open_database
from motorpool.storage.database.migrations import Migration, load, migrate
from motorpool.storage.errors import SetupFailed, StorageError
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OURS = load()
NEXT = Migration(len(OURS) + 1, "more", "create table more (id bigint)")


def now():
    return NOW


@pytest.fixture
async def single(database):
    """One connection, as `open_database` gives to `migrate`."""
    async with database.transaction() as transaction:
        yield transaction


def test_our_own_steps_are_numbered_from_one_without_holes():
    assert [step.number for step in OURS] == list(range(1, len(OURS) + 1))
    assert OURS[0].name == "users"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["0001_a.sql", "0003_b.sql"], "migration 0002 is missing"),
        (["0002_a.sql"], "migration 0001 is missing"),
        (["0001_a.sql", "0001_b.sql"], "migration 0002 is missing or doubled"),
        (["0001_a.sql", "2_b.sql"], "2_b.sql is no name"),
    ],
)
def test_holes_and_odd_names_are_refused(tmp_path, names, text):
    for name in names:
        (tmp_path / name).write_text("select 1")
    with pytest.raises(SetupFailed, match=text):
        load(tmp_path)


async def test_what_is_there_is_not_applied_again(single):
    assert await migrate(single, OURS, clock_now=now) == 0


async def test_only_what_is_missing_is_applied(single):
    assert await migrate(single, [*OURS, NEXT], clock_now=now) == 1
    row = await single.fetch_row("select * from schema_migrations order by number desc limit 1")
    assert (row["number"], row["name"], row["applied"]) == (NEXT.number, "more", NOW)


async def test_migrations_say_how_many_they_are_which_and_how_long_each_took(single, caplog):
    caplog.set_level("INFO")
    last = Migration(NEXT.number + 1, "last", "create table last (id bigint)")
    await migrate(single, [*OURS, NEXT, last], clock_now=now)
    lines = [record.getMessage() for record in caplog.records if record.name == migrations.__name__]
    assert lines[0].startswith(
        f"migrating the database: 2 migrations, from {OURS[-1].title} to {last.number:04}_last; "
    )
    assert re.fullmatch(rf"migration {NEXT.number:04}_more took \d+\.\d s", lines[1])
    assert re.fullmatch(rf"migration {last.number:04}_last took \d+\.\d s", lines[2])
    assert re.fullmatch(rf"the database is migrated to {last.number:04}_last, in \d+\.\d s", lines[3])
    assert len(lines) == 4


async def test_the_tables_of_a_new_database_are_one_line(postgres, caplog):
    caplog.set_level("INFO")
    postgres.run("create database brand_new")
    try:
        settings = DatabaseSettings(url=postgres.server.url("brand_new"))
        async with open_database(settings, clock_now=now):
            pass
        (line,) = [record.getMessage() for record in caplog.records if record.name == migrations.__name__]
        assert line.startswith(f"the tables are created, of {OURS[-1].title}, in ")
    finally:
        postgres.run("drop database brand_new with (force)")


async def test_tables_are_not_changed_under_a_server_that_runs(database, monkeypatch):
    monkeypatch.setattr(migrations, "_SERVERS_SECONDS", 0.3)
    async with database.session() as session:
        node = await nodes.join(session, "north", "there", "0")
        with pytest.raises(SetupFailed, match=r"a server on there uses this database, .* changes its tables"):
            await migrate(session, [*OURS, NEXT], clock_now=now)
        assert await session.fetch_value("select to_regclass('more') is null")
        # Who changes nothing starts beside it.
        assert await migrate(session, OURS, clock_now=now) == 0
        assert await nodes.renew(session, node)


async def test_a_server_that_ends_or_has_not_been_seen_any_more_holds_up_no_migration(database, monkeypatch):
    monkeypatch.setattr(migrations, "_SERVERS_SECONDS", 60)
    async with database.session() as session, trio.open_nursery() as nursery:
        frozen = await nodes.join(session, "north", "here", "0")
        await session.execute("update nodes set seen_until = clock_timestamp() - interval '1 second'")
        ending = await nodes.join(session, "north", "there", "0")
        nursery.start_soon(nodes.leave, database, ending)
        assert await migrate(session, [*OURS, NEXT], clock_now=now) == 1
        # It does not go on with tables that it does not know.
        assert not await nodes.renew(session, frozen)


async def test_a_newer_schema_is_refused(single):
    await migrate(single, [*OURS, NEXT], clock_now=now)
    with pytest.raises(SetupFailed, match=rf"schema {NEXT.number} \(more\), this release knows {len(OURS)}"):
        await migrate(single, OURS, clock_now=now)


@pytest.mark.parametrize(
    "damage",
    [
        "delete from schema_migrations where number = 2",
        "update schema_migrations set name = 'x' where number = 2",
    ],
)
async def test_a_schema_that_is_not_ours_is_refused(single, damage):
    await single.execute(damage)
    with pytest.raises(SetupFailed, match=r"where 2 \(devices\) must be"):
        await migrate(single, OURS, clock_now=now)


async def test_a_step_that_fails_leaves_nothing_behind(single):
    bad = Migration(NEXT.number, "bad", "create table half (id bigint); select nonsense")
    with pytest.raises(StorageError):
        await migrate(single, [*OURS, bad], clock_now=now)
    assert await single.fetch_value("select to_regclass('half') is null")
    assert await migrate(single, OURS, clock_now=now) == 0


async def test_servers_that_start_together_take_turns(postgres):
    postgres.run("create database together")

    async def start():
        url = postgres.server.url("together")
        async with open_database(DatabaseSettings(url=url, pool_size=1), clock_now=now) as database:
            assert await database.fetch_value("select count(*) from schema_migrations") == len(OURS)

    try:
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(start)
    finally:
        postgres.run("drop database together with (force)")


ADVISORY_LOCKS = """
    select count(*) from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where locktype = 'advisory' and datname = current_database()
"""


async def test_a_machine_too_busy_to_release_the_lock_in_time_starts_all_the_same(postgres, monkeypatch):
    monkeypatch.setattr(migrations, "_POLL_SECONDS", 0.0)
    postgres.run("create database busy")
    try:
        settings = DatabaseSettings(url=postgres.server.url("busy"), pool_size=1)
        async with open_database(settings, clock_now=now) as database:
            assert await database.fetch_value("select count(*) from schema_migrations") == len(OURS)
            # The session of the migration has been closed, which PostgreSQL may notice later.
            with trio.fail_after(120):
                while await database.fetch_value(ADVISORY_LOCKS):  # noqa: ASYNC110 - told by nobody
                    await trio.sleep(0.01)
    finally:
        postgres.run("drop database busy with (force)")


async def test_what_is_up_to_date_does_not_wait_for_one_that_migrates(database, single):
    await single.execute("select pg_advisory_lock($1)", migrations.LOCK)
    async with database.transaction() as other:
        assert await migrate(other, OURS, clock_now=now) == 0
    await single.execute("select pg_advisory_unlock($1)", migrations.LOCK)


async def test_who_waits_for_the_lock_too_long_is_told(database, single, monkeypatch):
    monkeypatch.setattr(migrations, "_WAIT_SECONDS", 0.2)
    await single.execute("select pg_advisory_lock($1)", migrations.LOCK)
    async with database.transaction() as other:
        with pytest.raises(SetupFailed, match="another server has been migrating"):
            await migrate(other, [*OURS, NEXT], clock_now=now)
    await single.execute("select pg_advisory_unlock($1)", migrations.LOCK)

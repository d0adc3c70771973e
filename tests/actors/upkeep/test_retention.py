"""Partitions ahead of time, and what has outlived its time."""

from datetime import UTC, datetime, timedelta

import pytest

from motorpool.actors.upkeep.retention import Retention, RetentionDays
from motorpool.runtime import TaskSpec
from motorpool.storage.accounts import users
from motorpool.storage.database import partitions
from motorpool.storage.devices import devices, position_rows, positions
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.helpdesk import idempotency
from motorpool.storage.helpdesk.idempotency import StoredAnswer
from motorpool.storage.records import Position, User
from motorpool.storage.schedules import runs
from motorpool.storage.upkeep import expired_positions, expired_rows
from motorpool.storage.video import kept_files
from motorpool.storage.video.kept_files import KeptFile

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def retention_spec(database, days):
    return TaskSpec(name="retention", factory=lambda: Retention(database, lambda: days))


async def store(database, device_id, *ages):
    """Positions that many days before NOW, with their ages as ids."""
    rows = []
    for age in ages:
        moment = NOW - age * DAY
        position = Position(
            id=age + 1,
            device_id=device_id,
            protocol="jt808",
            server_time=moment,
            device_time=moment,
            fix_time=moment,
        )
        rows.append(position_rows.pack_row(position))
    await positions.store(database, rows, [age + 1 for age in ages])


async def ages(database):
    return [row[0] - 1 for row in await database.fetch("select id from positions order by id")]


async def months(database):
    rows = await database.fetch(
        "select relname from pg_class where relname ~ '^positions_[0-9]' and relkind = 'r'"
    )
    return {row[0] for row in rows}


async def test_old_positions_go_and_the_latest_of_a_device_stays(database, make_device, tree, time):
    moving, parked = await make_device("1"), await make_device("2")
    await store(database, moving.id, 0, 29, 31, 100)
    await store(database, parked.id, 400, 500)
    async with tree(retention_spec(database, RetentionDays(positions=30))):
        await time.settle()
        assert await ages(database) == [0, 29, 400]
        # The next look is an hour later: what grew old meanwhile goes then.
        await time.passes(3590)
        assert await ages(database) == [0, 29, 400]
        await time.passes(20)
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    assert await ages(database) == [0, 29, 400]


async def test_a_clock_that_is_set_forward_by_mistake_makes_nothing_old(
    database, make_device, tree, time, clock
):
    device = await make_device()
    await store(database, device.id, 0, 1, 29)
    async with tree(retention_spec(database, RetentionDays(positions=30))):
        await time.settle()
        clock.move_wall(timedelta(days=1000).total_seconds())
        await time.passes(20 * 3600, step=3600)
        assert await ages(database) == [0, 1, 29]
        clock.move_wall(-timedelta(days=1000).total_seconds())
        await time.passes(2 * 86400, step=3600)
    assert await ages(database) == [0, 1]


async def test_without_a_limit_everything_stays(database, make_device, tree, time):
    device = await make_device()
    await store(database, device.id, 0, 100, 5000)
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    assert await ages(database) == [0, 100, 5000]


async def test_partitions_are_there_before_the_first_position_and_ahead_of_time(database, tree, time, clock):
    clock.set_wall(datetime(2027, 11, 20, tzinfo=UTC))
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
        made = await months(database)
        assert any("2027" in name and "11" in name for name in made)
        clock.set_wall(datetime(2028, 3, 1, tzinfo=UTC))
        await time.passes(3601)
        assert len(await months(database)) > len(made)


@pytest.fixture
def make_runs(database):
    """`await make_runs(31, "sent", "queued")`: runs of so many days ago."""

    async def make(age, *statuses):
        await database.execute(
            "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
            " command_id, delay_seconds, followed, time, status)"
            " select 1, 1, 'start', 0, $3, 1, 0, false, $1, status from unnest($2::text[]) as status",
            NOW - age * DAY,
            list(statuses),
            age,
        )

    return make


async def runs_kept(database):
    rows = await database.fetch("select device_id, status from scheduled_command_runs order by id")
    return [(row[0], row[1]) for row in rows]


async def test_old_runs_go_once_they_have_ended_however_many_there_are(
    database, make_runs, tree, time, monkeypatch
):
    monkeypatch.setattr(runs, "DROPPED_AT_ONCE", 2)
    await make_runs(31, *["sent", "delivered", "skipped", "failed"] * 2, "queued", "pending")
    await make_runs(30, "sent")
    await make_runs(29, "sent")
    async with tree(retention_spec(database, RetentionDays(runs=30))):
        await time.settle()
        assert await runs_kept(database) == [(31, "queued"), (31, "pending"), (30, "sent"), (29, "sent")]
        await time.passes(3601)
        assert await runs_kept(database) == [(31, "queued"), (31, "pending"), (29, "sent")]


async def test_without_a_limit_every_run_stays(database, make_runs, tree, time):
    await make_runs(9999, "sent")
    async with tree(retention_spec(database, RetentionDays(positions=1))):
        await time.settle()
    assert await runs_kept(database) == [(9999, "sent")]


async def test_what_deleted_devices_left_behind_goes(database, make_device, tree, time):
    gone, kept = await make_device("1"), await make_device("2")
    await store(database, gone.id, 1, 2, 3)
    await store(database, kept.id, 4)
    await devices.TABLE.delete(database, gone.id)
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    assert await ages(database) == [4]


async def test_an_outage_is_survived_and_made_up_for(database, make_device, tree, time, outage, caplog):
    device = await make_device()
    async with tree(retention_spec(database, RetentionDays(positions=30))) as system:
        await time.settle()
        await store(database, device.id, 0, 31)
        with outage():
            await time.passes(3601)
        assert "cleanup failed, retrying later" in caplog.text
        assert await ages(database) == [0, 31]
        await time.passes(3601)
        assert await ages(database) == [0]
        assert [state.restarts for state in system.snapshot()[0].children] == [0]


@pytest.mark.parametrize("days", [1, 3650])
async def test_any_number_of_days_will_do(database, make_device, tree, time, days):
    device = await make_device()
    await store(database, device.id, 0, days + 1)
    async with tree(retention_spec(database, RetentionDays(positions=days))):
        await time.settle()
    assert await ages(database) == [0]


async def test_a_fix_of_the_far_future_goes_once_it_was_received_long_ago(database, make_device, tree, time):
    device = await make_device()
    far = datetime(2090, 1, 1, tzinfo=UTC)
    for number, age in ((1, 31), (2, 29)):
        await store_fix(database, device.id, number, far, NOW - age * DAY)
    await store(database, device.id, 50)
    async with tree(retention_spec(database, RetentionDays(positions=30))):
        await time.settle()
    assert await ages(database) == [1, 50]


async def test_an_old_fix_that_was_received_late_stays_its_time(database, make_device, tree, time):
    """Also in a month that is dropped as a whole."""
    device = await make_device()
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    for number, fix_age, age in ((1, 1000, 29), (2, 1000, 31), (3, 40, 29), (4, 40, 31), (5, 0, 0)):
        await store_fix(database, device.id, number, NOW - fix_age * DAY, NOW - age * DAY)
    async with tree(retention_spec(database, RetentionDays(positions=30))):
        await time.settle()
        assert await ages(database) == [0, 2, 4]
    await expired_positions.delete_before(database, NOW + 30 * DAY)
    assert await ages(database) == [4]


async def store_fix(database, device_id, number, fix_time, server_time):
    """A position with an age of `number` - 1."""
    position = Position(
        id=number,
        device_id=device_id,
        protocol="jt808",
        server_time=server_time,
        device_time=fix_time,
        fix_time=fix_time,
    )
    await positions.store(database, [position_rows.pack_row(position)], [number])


ROWS = {
    "events": "insert into events (id, type, event_time, device_id) values ($2, 'alarm', $1, 1)",
    "audit": "insert into audit (id, action_time, action_type) values ($2, $1, 'login')",
    "statistics": "insert into statistics (id, capture_time, day) values ($2, $1, $1::timestamptz::date)",
}


@pytest.mark.parametrize("table", list(ROWS))
async def test_old_rows_of_each_table_go_in_batches_and_the_others_stay(
    database, tree, time, monkeypatch, table
):
    monkeypatch.setattr(expired_rows, "DELETED_AT_ONCE", 2)
    for age in (0, 29, 31, 32, 33, 400, 5000):
        await database.execute(ROWS[table], NOW - age * DAY, age + 1)

    async def kept():
        return [row[0] - 1 for row in await database.fetch(f"select id from {table} order by id")]

    for days in (RetentionDays(), RetentionDays(positions=1, runs=1)):
        async with tree(retention_spec(database, days)):
            await time.settle()
        assert len(await kept()) == 7
    async with tree(retention_spec(database, RetentionDays(**{table: 30}))):
        await time.settle()
        assert await kept() == [0, 29]
        await time.passes(3590)
        assert await kept() == [0, 29]


async def test_the_event_that_names_a_kept_file_stays(database, make_device, tree, time):
    device = await make_device("1")
    for number in (1, 2):
        await database.execute(ROWS["events"], NOW - 400 * DAY, number)
    kept = KeptFile("1-a.jpg", device.id, NOW - 400 * DAY, event_id=1, size=1, user_id=None)
    async with database.transaction() as transaction:
        await kept_files.add(transaction, kept)
    async with tree(retention_spec(database, RetentionDays(events=30))):
        await time.settle()
        assert [row[0] for row in await database.fetch("select id from events")] == [1]


async def test_one_step_that_fails_does_not_keep_the_others_from_their_work(
    database, tree, time, monkeypatch, caplog
):
    async def fail(*_):
        raise StorageUnavailable("the table is locked")

    monkeypatch.setattr(partitions, "ensure_partitions", fail)
    await database.execute(ROWS["audit"], NOW - 31 * DAY, 1)
    async with tree(retention_spec(database, RetentionDays(audit=30))):
        await time.settle()
    assert "the table is locked" in caplog.text
    assert await database.fetch("select id from audit") == []


async def test_captures_without_a_file_are_kept_for_thirty_days(database, tree, time):
    await database.execute("insert into devices (id, name, unique_id) values (1, 'van', 'van')")
    for days in (29, 31):
        await database.execute(
            "insert into captures"
            " (id, device_id, channel, live, file_name, started_at, completed_at, status, node)"
            " values ($1, 1, 1, false, $1, $2, $2, 'FAILED', 1)",
            str(days),
            NOW - days * DAY,
        )
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    assert [row[0] for row in await database.fetch("select id from captures")] == ["29"]


async def test_answers_to_repeated_requests_are_kept_for_a_day(database, tree, time):
    ann = await users.TABLE.insert(database, User(name="Ann", email="ann@example.org"))
    answer = StoredAnswer(b"hash", 200, b"{}")
    for hours in (0, 23, 25, 100):
        then = NOW - timedelta(hours=hours)
        await idempotency.store(database, ann.id, f"{hours}", "POST /api/tickets", answer, now=then)
    async with tree(retention_spec(database, RetentionDays())):
        await time.settle()
    rows = await database.fetch("select key from idempotency_keys order by created desc")
    assert [row[0] for row in rows] == ["0", "23"]
    assert await idempotency.find(database, ann.id, "23", "POST /api/tickets") == answer

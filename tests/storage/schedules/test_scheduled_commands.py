"""Rows of scheduled commands: whose they are, what they are linked to, and from when they are watched."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import groups
from motorpool.storage.errors import StatementRejected
from motorpool.storage.records import ScheduledCommand, ScheduledStep
from motorpool.storage.schedules import scheduled_commands
from motorpool.storage.schedules.scheduled_commands import TABLE, ScheduleLinks
from motorpool.storage.schedules.watched_rows import WatchedRow

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def pair(world):
    """Two active ones of one calendar, watched since NOW."""
    calendar = await world.calendar()
    return [await world.schedule(calendar_id=calendar.id) for _ in range(2)]


async def test_a_row_comes_back_as_it_was_stored(world, database):
    calendar, command = await world.calendar(), await world.command()
    row = ScheduledCommand(
        name="lock",
        description="at night",
        calendar_id=calendar.id,
        active=False,
        on_start=[ScheduledStep(command.id), ScheduledStep(command.id, 30)],
        on_end=[ScheduledStep(command.id, 7 * 86400)],
        attributes={"queueMaxMinutes": 5},
    )
    stored = await TABLE.insert(database, row)
    assert stored == msgspec.structs.replace(row, id=stored.id)
    assert await TABLE.fetch(database, stored.id) == stored
    changed = msgspec.structs.replace(stored, description=None, on_start=[], active=True)
    assert await TABLE.update(database, changed) == changed


async def test_a_user_sees_those_he_has_a_link_to(world, database):
    schedule, user = await world.schedule(), await world.user()
    query = ListQuery(accessible_to=user.id)
    assert await TABLE.list(database, query) == []
    await links.add(database, links.USER_SCHEDULED_COMMAND, user.id, schedule.id)
    assert await TABLE.list(database, query) == [schedule]


async def test_a_new_row_watches_nothing_until_it_has_its_owner(world, database):
    user = await world.user()
    row = await TABLE.insert(database, ScheduledCommand(name="s", calendar_id=(await world.calendar()).id))
    far = await database.fetch_value("select watched_from = 'infinity' from scheduled_commands")
    assert far is True
    await scheduled_commands.set_owner(database, row.id, user.id, NOW)
    assert await scheduled_commands.WATCHED.active(database) == [WatchedRow(row.id, row.calendar_id, NOW)]


async def owner_of(database, schedule):
    return await database.fetch_value("select owner_id from scheduled_commands where id = $1", schedule.id)


async def test_one_whose_owner_is_gone_is_adopted_and_no_other(world, database):
    owner, editor = await world.user(), await world.user()
    schedule = await world.schedule(owner=owner)
    await scheduled_commands.set_missing_owner(database, schedule.id, editor.id)
    assert await owner_of(database, schedule) == owner.id
    await users.TABLE.delete(database, owner.id)
    assert await owner_of(database, schedule) is None
    await scheduled_commands.set_missing_owner(database, schedule.id, editor.id)
    assert await owner_of(database, schedule) == editor.id


async def test_only_active_ones_are_watched_all_or_some(world, database):
    one, two = await world.schedule(), await world.schedule(watched_from=NOW + HOUR)
    idle = await world.schedule(active=False)
    first = WatchedRow(one.id, one.calendar_id, NOW)
    second = WatchedRow(two.id, two.calendar_id, NOW + HOUR)

    async def ids(found):
        return sorted(await found, key=lambda each: each.id)

    assert await ids(scheduled_commands.WATCHED.active(database)) == [first, second]
    assert await ids(scheduled_commands.WATCHED.active(database, [two.id, idle.id, 999])) == [second]
    assert await ids(scheduled_commands.WATCHED.active(database, [])) == []
    both = [one.calendar_id, idle.calendar_id]
    assert await ids(scheduled_commands.WATCHED.active_of_calendars(database, both)) == [first]


async def test_watching_begins_anew_for_one_for_a_calendar_or_for_all(world, database, pair):
    one, two = pair
    other = await world.schedule()

    async def since():
        return [await world.watched_from(each) for each in (one, two, other)]

    await scheduled_commands.WATCHED.watch_from(database, one.id, NOW + HOUR)
    assert await since() == [NOW + HOUR, NOW, NOW]
    await scheduled_commands.WATCHED.restart_calendar(database, one.calendar_id, NOW + 2 * HOUR)
    assert await since() == [NOW + 2 * HOUR, NOW + 2 * HOUR, NOW]
    await scheduled_commands.WATCHED.restart_calendar(database, None, NOW + 3 * HOUR)
    assert await since() == [NOW + 3 * HOUR] * 3


async def test_those_that_wait_for_a_time_far_ahead_are_turned_back(world, database):
    near, far = (
        await world.schedule(watched_from=NOW + HOUR),
        await world.schedule(watched_from=NOW + 3 * HOUR),
    )
    idle = await world.schedule(watched_from=NOW + 3 * HOUR, active=False)
    assert await scheduled_commands.WATCHED.restart_ahead_of_clock(database, NOW, 2 * HOUR) == 1
    assert await world.watched_from(near) == NOW + HOUR
    assert await world.watched_from(far) == NOW
    assert await world.watched_from(idle) == NOW + 3 * HOUR
    assert await scheduled_commands.WATCHED.restart_ahead_of_clock(database, NOW, 2 * HOUR) == 0


async def test_those_that_have_not_heard_of_an_edge_are_told(world, database, pair):
    one, two = pair
    await scheduled_commands.WATCHED.watch_from(database, two.id, NOW + HOUR)
    other = await world.schedule()
    idle = await world.schedule(active=False)
    told = [(one.calendar_id, NOW + HOUR), (other.calendar_id, NOW), (idle.calendar_id, NOW + HOUR)]
    assert await scheduled_commands.WATCHED.missing_edge(database, told) == [
        WatchedRow(one.id, one.calendar_id, NOW)
    ]
    assert await scheduled_commands.WATCHED.missing_edge(database, []) == []


async def test_what_each_is_linked_to_is_told_in_order(world, database):
    group = await world.group()
    devices = [await world.device(group) for _ in range(3)]
    schedule, bare = await world.schedule(devices[2], devices[0], group), await world.schedule()
    found = await scheduled_commands.links_of(database, [schedule.id, bare.id, 999])
    owners = [found[number].owner_id for number in (schedule.id, bare.id)]
    assert all(owners)
    assert found == {
        schedule.id: ScheduleLinks([devices[0].id, devices[2].id], [group.id], None, owners[0]),
        bare.id: ScheduleLinks([], [], None, owners[1]),
    }
    await groups.TABLE.delete(database, group.id)
    assert (await scheduled_commands.links_of(database, [schedule.id]))[schedule.id].group_ids == []


async def test_a_calendar_that_is_followed_cannot_go(world, database, pair):
    one, two = pair
    calendar_id = one.calendar_id
    assert await scheduled_commands.count_using_calendar(database, calendar_id) == 2
    await TABLE.update(database, msgspec.structs.replace(two, active=False))
    assert await scheduled_commands.count_using_calendar(database, calendar_id) == 2
    assert await scheduled_commands.count_using_calendar(database, calendar_id + 1) == 0
    with pytest.raises(StatementRejected):
        await plain_tables.CALENDARS.delete(database, calendar_id)
    for each in pair:
        await TABLE.delete(database, each.id)
    assert await plain_tables.CALENDARS.delete(database, calendar_id)

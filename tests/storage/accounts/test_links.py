import pytest

from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import commands, devices, groups
from motorpool.storage.errors import StatementRejected
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Company, Team
from motorpool.storage.records import (
    Calendar,
    Command,
    ComputedAttribute,
    Device,
    Driver,
    Geofence,
    Group,
    Maintenance,
    Notification,
    Order,
    ScheduledCommand,
    ScheduledReport,
    User,
)
from motorpool.storage.reports import scheduled_reports
from motorpool.storage.schedules import scheduled_commands


@pytest.fixture
async def rows(database):
    return (
        await users.TABLE.insert(database, User(email="a@example.com")),
        await devices.TABLE.insert(database, Device(name="one", unique_id="1")),
        await devices.TABLE.insert(database, Device(name="two", unique_id="2")),
    )


async def test_a_link_made_twice_is_there_once(database, rows):
    user, one, _ = rows
    assert await links.add(database, links.USER_DEVICE, user.id, one.id)
    assert not await links.add(database, links.USER_DEVICE, user.id, one.id)
    assert await links.find(database, links.USER_DEVICE) == [(user.id, one.id)]


async def test_an_undone_link_is_gone_and_undoing_it_again_does_nothing(database, rows):
    user, one, two = rows
    for device in (one, two):
        await links.add(database, links.USER_DEVICE, user.id, device.id)
    for _ in range(2):
        await links.remove_many(database, links.USER_DEVICE, [(user.id, one.id)])
    assert await links.properties(database, links.USER_DEVICE, user.id) == [two.id]


async def test_links_are_found_from_either_side(database, rows):
    user, one, two = rows
    for device in (one, two):
        await links.add(database, links.USER_DEVICE, user.id, device.id)
    assert await links.properties(database, links.USER_DEVICE, user.id) == [one.id, two.id]
    assert await links.owners(database, links.USER_DEVICE, two.id) == [user.id]
    assert await links.find(database, links.USER_DEVICE, property_id=one.id) == [(user.id, one.id)]
    assert await links.exists(database, links.USER_DEVICE, user.id, one.id)
    assert not await links.exists(database, links.USER_DEVICE, user.id, 99)


async def test_a_link_to_nothing_is_rejected(database, rows):
    user, _, _ = rows
    with pytest.raises(StatementRejected, match="deviceId 99 refers to nothing"):
        await links.add(database, links.USER_DEVICE, user.id, 99)


async def test_links_go_with_either_side(database, rows):
    user, one, two = rows
    for device in (one, two):
        await links.add(database, links.USER_DEVICE, user.id, device.id)
    await devices.TABLE.delete(database, one.id)
    assert await links.find(database, links.USER_DEVICE) == [(user.id, two.id)]
    await users.TABLE.delete(database, user.id)
    assert await links.find(database, links.USER_DEVICE) == []
    assert await devices.TABLE.fetch(database, two.id) == two


async def test_every_declared_pair_has_its_table(database, rows):
    user, one, two = rows
    other = await users.TABLE.insert(database, User(email="b@example.com"))
    group = await groups.TABLE.insert(database, Group(name="g"))
    command = await commands.TABLE.insert(database, Command(type="custom"))
    ids = {
        "user": user.id,
        "device": one.id,
        "group": group.id,
        "command": command.id,
        "managedUser": other.id,
        "linkedDevice": two.id,
        "attribute": (await plain_tables.COMPUTED_ATTRIBUTES.insert(database, ComputedAttribute())).id,
        "calendar": (await plain_tables.CALENDARS.insert(database, Calendar())).id,
        "driver": (await plain_tables.DRIVERS.insert(database, Driver(unique_id="d"))).id,
        "geofence": (await plain_tables.GEOFENCES.insert(database, Geofence())).id,
        "maintenance": (await plain_tables.MAINTENANCE.insert(database, Maintenance())).id,
        "notification": (await plain_tables.NOTIFICATIONS.insert(database, Notification(type="alarm"))).id,
        "order": (await plain_tables.ORDERS.insert(database, Order())).id,
        "company": (await company_tables.COMPANIES.insert(database, Company(name="c"))).id,
    }
    ids["team"] = (await company_tables.TEAMS.insert(database, Team(company_id=ids["company"], name="t"))).id
    schedule = ScheduledCommand(calendar_id=ids["calendar"])
    ids["scheduledCommand"] = (await scheduled_commands.TABLE.insert(database, schedule)).id
    report = ScheduledReport(type="trips", calendar_id=ids["calendar"])
    ids["report"] = (await scheduled_reports.TABLE.insert(database, report)).id
    # Those of docs/permissions.md#links, for owners user, device and group.
    assert len(links.LINK_TYPES) == 15 + 10 + 9
    for pair in links.LINK_TYPES.values():
        owner_id, property_id = ids[pair.owner], ids[pair.property]
        assert await links.add(database, pair, owner_id, property_id)
        assert await links.find(database, pair) == [(owner_id, property_id)]


def test_pairs_are_found_by_the_keys_of_the_api():
    assert links.LINK_TYPES["userId", "deviceId"] is links.USER_DEVICE
    assert links.LINK_TYPES["userId", "managedUserId"] is links.USER_USER
    assert ("deviceId", "userId") not in links.LINK_TYPES


async def test_a_list_can_be_cut_to_what_an_owner_has(database, rows):
    _, one, _ = rows
    command = await commands.TABLE.insert(database, Command(type="custom", description="a"))
    await commands.TABLE.insert(database, Command(type="custom", description="b"))
    await links.add(database, links.DEVICE_COMMAND, one.id, command.id)
    query = ListQuery(conditions=(links.linked_to(links.DEVICE_COMMAND, one.id),))
    assert await commands.TABLE.list(database, query) == [command]


async def test_many_links_are_added_and_removed_at_once(database):
    user = await users.TABLE.insert(database, User(email="a@b"))
    ids = [(await devices.TABLE.insert(database, Device(unique_id=f"{number}"))).id for number in range(4)]
    pairs = [(user.id, number) for number in ids]
    for _ in range(2):
        await links.add_many(database, links.USER_DEVICE, [*pairs, pairs[0]])
        assert await links.find(database, links.USER_DEVICE) == pairs
    await links.remove_many(database, links.USER_DEVICE, [pairs[2], pairs[0], (user.id, 999)])
    assert await links.find(database, links.USER_DEVICE) == [pairs[1], pairs[3]]
    with pytest.raises(StatementRejected):
        await links.add_many(database, links.USER_DEVICE, [pairs[0], (user.id, 999)])
    assert await links.find(database, links.USER_DEVICE) == [pairs[1], pairs[3]]

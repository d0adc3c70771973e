"""Tickets are paused while their vehicle is outside of its zone, by stored positions."""

from datetime import timedelta
from itertools import count

import msgspec
import pytest
from tests.actors.conftest import NOW
from tests.actors.helpdesk.clock.conftest import batches
from tests.actors.helpdesk.clock.world import HOUR, MINUTE, NEVER_WARN, SECOND

from motorpool.actors.helpdesk import zone_follower
from motorpool.actors.helpdesk.zone_follower import ZoneFollower
from motorpool.runtime import TaskSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import position_rows, positions
from motorpool.storage.helpdesk import company_tables
from motorpool.storage.helpdesk.helpdesk_records import Branch, TicketCategory
from motorpool.storage.records import Geofence, Position, User

HOME, AWAY = (52.0, 13.0), (53.0, 13.0)
ZONE = "CIRCLE (52 13, 500)"
numbers = count(1)


def ticket_zones_spec(database, batches):
    return TaskSpec(name="ticket_zones", factory=lambda: ZoneFollower(database, batches))


@pytest.fixture
def drive(database, clock, device):
    """`await drive(AWAY, 10, 0)`: valid fixes so many seconds ago."""

    async def driven(place, *seconds_ago, of=None, valid=True):
        for ago in seconds_ago:
            at = clock.now() - ago * SECOND
            number = next(numbers)
            position = Position(
                id=number,
                device_id=(of or device).id,
                protocol="osmand",
                server_time=clock.now(),
                device_time=at,
                fix_time=at,
                valid=valid,
                latitude=place[0],
                longitude=place[1],
            )
            await positions.store(database, [position_rows.pack_row(position)], [number])

    return driven


@pytest.fixture
async def device(make_device):
    return await make_device()


@pytest.fixture
async def viewer(database, world, device):
    """A user of the company who sees the device."""
    user = await users.TABLE.insert(database, User(name="chief", email="chief@example.org"))
    await links.add(database, links.USER_COMPANY, user.id, world.company.id)
    await links.add(database, links.USER_DEVICE, user.id, device.id)
    return user


@pytest.fixture
async def geofence(database):
    return await plain_tables.GEOFENCES.insert(database, Geofence(name="Yard", area=ZONE))


@pytest.fixture
async def category(database, world, geofence):
    row = TicketCategory(
        company_id=world.company.id, name="Breakdown", attributes={"pauseWhenOutside": geofence.id}
    )
    return await company_tables.CATEGORIES.insert(database, row)


@pytest.fixture
def ticket(world, device, viewer, category):
    """`await ticket()`: one of the category and the device, due in eight hours."""

    async def made(**columns):
        priority = await world.priority(first=0, resolution=480, **NEVER_WARN)
        columns = {"device_id": device.id, "category_id": category.id, **columns}
        return await world.ticket(NOW, priority, **columns)

    return made


async def pauses(database):
    """(ticket, seconds after NOW, seconds after NOW or None)."""
    rows = await database.fetch(
        "select ticket_id, begins, ends from ticket_pauses where reason = 'outsideZone' order by id"
    )
    return [(row[0], *(None if at is None else (at - NOW).total_seconds() for at in row[1:])) for row in rows]


async def test_a_vehicle_that_leaves_and_comes_back(database, tree, time, world, ticket, drive):
    made = await ticket()
    await drive(HOME, 60, 0)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(30)
        await drive(AWAY, 0)
        await time.passes(30)
        assert await pauses(database) == []  # one fix alone, and not for three minutes yet
        await drive(AWAY, 0)
        await time.passes(30)
        assert await pauses(database) == [(made, 90, None)]
        assert await world.column(made, "resolution_due") is None
        await time.passes(600)
        await drive(HOME, 5, 0)
        await time.passes(30)
        assert await pauses(database) == [(made, 90, 720)]
        assert await world.column(made, "resolution_due") == NOW + 8 * HOUR + 630 * SECOND
    kinds = [(kind, noted) for kind, _, _, _, noted in await world.entries("slaPaused", "slaResumed")]
    assert kinds == [("slaPaused", {"reason": "outsideZone"}), ("slaResumed", {"reason": "outsideZone"})]


async def test_one_fix_counts_after_three_minutes(database, tree, time, ticket, drive):
    made = await ticket()
    await drive(AWAY, 0)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(179, step=30)
        assert await pauses(database) == []
        await time.passes(1)
        assert await pauses(database) == [(made, 180, None)]


async def test_what_is_not_valid_old_or_in_the_future_does_not_count(database, tree, time, ticket, drive):
    made = await ticket()
    await drive(AWAY, 1900, 1850)
    await drive(AWAY, 20, 10, valid=False)
    await drive(AWAY, -90_000, -90_010)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(60, step=30)
        assert await pauses(database) == []
        # The same fix sent again is one.
        await drive(AWAY, 7)
        await drive(AWAY, 7)
        await time.passes(60, step=30)
        assert await pauses(database) == []
        await drive(AWAY, 3)
        await time.passes(30)
        assert await pauses(database) == [(made, 150, None)]


async def test_a_restart_finds_what_happened_meanwhile(database, tree, time, ticket, drive, clock):
    made = await ticket()
    await drive(AWAY, 20, 10)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(1)
    assert await pauses(database) == [(made, 0, None)]
    await drive(HOME, 1, 0)
    clock.set_wall(NOW + 2 * HOUR)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(1)
    ((_, _, ended),) = await pauses(database)
    assert 7200 <= ended <= 7201


async def test_two_servers_pause_each_ticket_once(database, tree, time, world, ticket, drive, monkeypatch):
    monkeypatch.setattr(zone_follower, "BATCH", 3)
    made = [await ticket() for _ in range(8)]
    await drive(AWAY, 20, 10)
    spec = ticket_zones_spec(database, batches())
    async with tree(spec), tree(spec):
        await time.passes(31)
        assert sorted(each[0] for each in await pauses(database)) == made
        await drive(HOME, 2, 1)
        await time.passes(30)
        assert all(each[2] is not None for each in await pauses(database))
    assert len(await world.entries("slaPaused")) == len(await world.entries("slaResumed")) == 8


async def test_the_zone_of_the_branch(database, tree, time, world, ticket, category, geofence, drive):
    await company_tables.CATEGORIES.update(
        database, msgspec.structs.replace(category, attributes={"pauseWhenOutside": "branch"})
    )
    row = Branch(company_id=world.company.id, name="North", attributes={"geofenceId": geofence.id})
    north = await company_tables.BRANCHES.insert(database, row)
    south = await company_tables.BRANCHES.insert(database, Branch(company_id=world.company.id, name="South"))
    made = await ticket(branch_id=north.id)
    await ticket(branch_id=south.id)
    await ticket()
    await drive(AWAY, 20, 10)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(1)
    assert [each[0] for each in await pauses(database)] == [made]


async def _forget_category(database, world, category, **_):
    await company_tables.CATEGORIES.update(database, msgspec.structs.replace(category, attributes={}))


async def _delete_geofence(database, geofence, **_):
    await plain_tables.GEOFENCES.delete(database, geofence.id)


async def _widen_geofence(database, geofence, **_):
    wide = msgspec.structs.replace(geofence, area="CIRCLE (52 13, 500000)")
    await plain_tables.GEOFENCES.update(database, wide)


async def _unlink_device(database, device, viewer, **_):
    await links.remove_many(database, links.USER_DEVICE, [(viewer.id, device.id)])


async def _unlink_company(database, world, viewer, **_):
    await links.remove_many(database, links.USER_COMPANY, [(viewer.id, world.company.id)])


@pytest.mark.parametrize(
    "change", [_forget_category, _delete_geofence, _widen_geofence, _unlink_device, _unlink_company]
)
async def test_what_ends_the_rule_ends_the_pause(
    change, database, tree, time, world, ticket, category, geofence, device, viewer, drive
):
    made = await ticket()
    await drive(AWAY, 20, 10)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(60)
        assert await pauses(database) == [(made, 0, None)]
        await change(
            database=database,
            world=world,
            category=category,
            geofence=geofence,
            device=device,
            viewer=viewer,
        )
        await time.passes(30)
        assert await pauses(database) == [(made, 0, 90)]


async def test_only_tickets_that_are_worked_on_are_paused(database, tree, time, ticket, drive, make_device):
    other = await make_device("2")
    await ticket(kind="resolved", resolved_at=NOW)
    await ticket(device_id=None)
    await ticket(category_id=None)
    await ticket(device_id=other.id)  # no user of the company sees it
    await drive(AWAY, 20, 10)
    await drive(AWAY, 20, 10, of=other)
    async with tree(ticket_zones_spec(database, batches())):
        await time.passes(MINUTE / timedelta(seconds=1))
    assert await pauses(database) == []

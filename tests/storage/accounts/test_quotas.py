"""What triggers keep of what counts towards quotas, against counting it all on random histories."""

import random

import pytest

from motorpool.storage.accounts import links, quotas
from motorpool.storage.accounts.quotas import BY_TABLE, KINDS
from motorpool.storage.devices import devices, groups
from motorpool.storage.errors import StorageError
from motorpool.storage.plain_tables import GEOFENCES, NOTIFICATIONS
from motorpool.storage.records import Device, Geofence, Group, Notification

STEPS = 150
ATTRIBUTES = "octet_length(p.attributes::text)"
CREATED = {
    "geofences": {
        "rows": "1",
        "points": "length(p.area) - length(replace(p.area, ',', '')) + 1",
        "bytes": f"{ATTRIBUTES} + octet_length(p.area)",
    },
    "calendars": {"rows": "1", "cost": "p.cost", "bytes": f"{ATTRIBUTES} + octet_length(p.data)"},
    "devices": {"bytes": ATTRIBUTES},
    "companies": {"rules": "jsonb_array_length(coalesce(p.attributes -> 'ticketRules', '[]'))"},
    **{
        name: {"rows": "1", "bytes": ATTRIBUTES}
        for name in (
            *("drivers", "orders", "maintenance", "notifications", "commands", "groups"),
            *("scheduled_commands", "scheduled_reports"),
        )
    },
}
LINKED = {
    "geofence": ("geofences", {"rows": "1", "points": CREATED["geofences"]["points"]}),
    "attribute": ("computed_attributes", {"rows": "1", "characters": "length(p.expression)"}),
    "maintenance": ("maintenance", {"rows": "1"}),
    "notification": ("notifications", {"rows": "1"}),
    "scheduled_command": (
        "scheduled_commands",
        {"steps": "jsonb_array_length(p.on_start) + jsonb_array_length(p.on_end)"},
    ),
}
EXAMPLES = {
    "users": ("name, email", "'x', gen_random_uuid()::text"),
    "groups": ("name", "'x'"),
    "devices": ("name, unique_id", "'x', gen_random_uuid()::text"),
    "geofences": ("name, area", "'x', 'LINESTRING (1 1' || repeat(', 1 2', {}) || ')'"),
    "computed_attributes": (
        "description, attribute, expression, type",
        "'x', 'x', repeat('1', {} + 1), 'number'",
    ),
    "maintenance": ("name, type", "'x', 'hours'"),
    "notifications": ("type", "'alarm'"),
    "calendars": ("name, data, cost", "'x', repeat('x', {}), 5"),
    "scheduled_commands": (
        "name, calendar_id, on_start",
        "'x', (select id from calendars order by random() limit 1), (select coalesce(jsonb_agg(n), '[]')"
        " from generate_series(1, {}) n)",
    ),
    "companies": ("name", "'x'"),
}
CHANGES = {
    "geofences": "area = 'LINESTRING (1 1' || repeat(', 1 2', {}) || ')'",
    "computed_attributes": "expression = repeat('1', {} + 1)",
    "calendars": "data = repeat('y', {}), cost = cost + 2",
    "scheduled_commands": "on_end = (select coalesce(jsonb_agg(n), '[]') from generate_series(1, {}) n)",
    "companies": "attributes = jsonb_build_object('ticketRules', (select coalesce(jsonb_agg(n), '[]')"
    " from generate_series(1, {}) n))",
    "devices": "attributes = jsonb_build_object('note', repeat('x', {})), creator_id = null",
    "notifications": "version = version + 1",
}
LINKS = [
    *(
        (f"{owner}_{name}", f"{owner}s", table, f"{owner}_id", f"{name}_id")
        for owner in ("device", "group")
        for name, (table, _) in LINKED.items()
    ),
    ("device_device", "devices", "devices", "device_id", "linked_device_id"),
    ("user_notification", "users", "notifications", "user_id", "notification_id"),
]


async def counted(database):
    """What everybody has, counted."""
    found = set()

    async def add(owner, sql):
        found.update((owner, row[0], row[1], row[2]) for row in await database.fetch(sql) if row[2])

    for table, measures in CREATED.items():
        for name, cost in measures.items():
            await add(
                "user", f"select creator_id, '{table}:{name}', sum({cost})::bigint from {table} p group by 1"
            )
    for owner in ("device", "group"):
        for name, (table, measures) in LINKED.items():
            for measure, cost in measures.items():
                await add(
                    owner,
                    f"select {owner}_id, '{table}:{measure}', sum({cost})::bigint"
                    f" from {owner}_{name} l join {table} p on p.id = l.{name}_id group by 1",
                )
    await add("device", "select device_id, 'devices:linked', count(*) from device_device group by 1")
    await add(
        "user",
        "select creator_id, 'notifications:links', count(*) from user_notification"
        " join notifications p on p.id = notification_id group by 1",
    )
    return found


async def kept(database):
    """What everybody has by the triggers."""
    return {
        (owner, row[0], row[1], row[2])
        for owner in ("user", "device", "group")
        for row in await database.fetch(f"select {owner}_id, measure, amount from {owner}_quota_use")
        if row[2]
    }


async def step(database, chance):
    """Add, change or delete some rows, or links of them."""
    number = chance.randrange(4)
    count = chance.randrange(1, 4)
    kind = chance.random()
    if kind < 0.35:
        table = chance.choice([*EXAMPLES])
        columns, values = EXAMPLES[table]
        creator = "(select id from users order by random() limit 1)"
        if table in CREATED:
            columns, values = f"{columns}, creator_id", f"{values}, {creator}"
        if table == "devices":
            columns, values = f"{columns}, group_id", f"{values}, (select max(id) from groups)"
        sql = (
            f"insert into {table} ({columns}) select {values.format(number)} from generate_series(1, {count})"
        )
        if table == "scheduled_commands":
            sql += " where exists (select from calendars)"
    elif kind < 0.5:
        table = chance.choice([*CHANGES])
        sql = f"update {table} set {CHANGES[table].format(number)} where id in"
        sql += f" (select id from {table} order by random() limit {count})"
    elif kind < 0.6:
        table = chance.choice([table for table in EXAMPLES if table != "calendars"])
        sql = f"delete from {table} where id in (select id from {table} order by random() limit {count})"
    else:
        table, owners, owned, owner, column = chance.choice(LINKS)
        if chance.random() < 0.75:
            sql = (
                f"insert into {table} ({owner}, {column}) select one.id, two.id from"
                f" (select id from {owners} order by random() limit {count}) one,"
                f" (select id from {owned} order by random() limit {count}) two on conflict do nothing"
            )
        else:
            chosen = f"select ctid from {table} order by random() limit {count}"
            sql = f"delete from {table} where ctid in ({chosen})"
    await database.execute(sql)
    return sql


async def test_what_is_kept_is_what_there_is(database, seed, at_length):
    chance = random.Random(seed)
    await database.execute(f"select setseed({chance.uniform(-1, 1)})")
    done, owners = [], set()
    for number in range(STEPS * (10 if at_length else 1)):
        done.append(await step(database, chance))
        if number % 10 == 9:
            found = await kept(database)
            assert found == await counted(database), done[-10:]
            owners |= {owner for owner, *_ in found}
    assert owners == {"user", "device", "group"}


def test_every_measure_is_one_that_is_kept():
    keys = {f"{table}:{name}" for table, measures in CREATED.items() for name in measures}
    keys |= {f"{table}:{name}" for table, measures in LINKED.values() for name in measures}
    keys |= {"devices:linked", "notifications:links"}
    named = {key for kind in KINDS for key in kind.keys((*kind.owned, *kind.applied, *kind.shared))}
    assert named == keys


@pytest.fixture
async def tree(database):
    """Three groups one below the other, and a device in the lowest."""
    found = []
    for _ in range(3):
        above = found[-1].id if found else 0
        found.append(await groups.TABLE.insert(database, Group(name="x", group_id=above)))
    device = await devices.TABLE.insert(database, Device(unique_id="1", group_id=found[-1].id))
    return [group.id for group in found], device.id


async def geofence(database, points=3):
    area = f"LINESTRING ({', '.join(['1 1'] * points)})"
    return (await GEOFENCES.insert(database, Geofence(name="x", area=area))).id


async def test_a_device_has_what_is_linked_to_it_and_to_three_levels_of_groups(database, tree):
    kind = BY_TABLE["geofences"]
    (top, middle, low), device = tree
    for link, owner, points in (
        (links.GROUP_GEOFENCE, top, 1000),
        (links.GROUP_GEOFENCE, middle, 100),
        (links.GROUP_GEOFENCE, low, 10),
        (links.DEVICE_GEOFENCE, device, 2),
    ):
        await links.add(database, link, owner, await geofence(database, points))
    assert await quotas.applied(database, kind, devices=[device]) == (4, 1112)
    assert await quotas.applied(database, kind, groups=[top]) == (4, 1112)
    assert await quotas.applied_to_all(database, kind) == (4, 1112)
    above = await groups.TABLE.insert(database, Group(name="x"))
    await links.add(database, links.GROUP_GEOFENCE, above.id, await geofence(database, 5))
    await database.execute("update groups set group_id = $1 where id = $2", above.id, top)
    # What is linked four levels above counts for those in between.
    assert await quotas.applied(database, kind, devices=[device]) == (4, 1112)
    assert await quotas.applied(database, kind, groups=[above.id]) == (3, 1105)
    assert await quotas.linked(database, kind, links.GROUP_GEOFENCE, [top, low]) == (2, 1010)


async def test_only_changes_of_the_same_groups_wait_for_each_other(database, tree):
    (top, _, low), device = tree
    apart = await groups.TABLE.insert(database, Group(name="apart"))

    async def lock_soon(group):
        async with database.transaction() as other:
            await other.execute("set local lock_timeout = 1")
            await quotas.lock(other, groups=[group])

    async with database.transaction() as one:
        await quotas.lock(one, devices=[device])
        async with database.transaction() as other:
            await quotas.lock(other, groups=[apart.id])
            await links.add(other, links.GROUP_GEOFENCE, apart.id, await geofence(database))
        for group in (top, low):
            with pytest.raises(StorageError, match="lock timeout"):
                await lock_soon(group)


async def test_only_changes_of_the_same_user_wait_for_each_other(database, make_user):
    ann, bob = await make_user("ann"), await make_user("bob")
    kind = BY_TABLE["geofences"]
    area = Geofence(name="x", area="LINESTRING (1 1, 1 2)")

    async def store_soon(user_id):
        async with database.transaction() as other:
            await other.execute("set local lock_timeout = 1")
            await GEOFENCES.insert(other, area, creator_id=user_id)

    # Before the user has a row that could be locked, and afterwards.
    for number in (1, 2):
        async with database.transaction() as one:
            await GEOFENCES.insert(one, area, creator_id=ann)
            assert (await quotas.owned(one, kind, kind.owned, ann))[0] == number
            with pytest.raises(StorageError, match="lock timeout"):
                await store_soon(ann)
            await store_soon(bob)
    assert (await quotas.owned(database, kind, kind.owned, bob))[0] == 2


async def test_of_whom_notifications_reach_their_creators_are_counted(database, make_user):
    ann, bob = await make_user("ann"), await make_user("bob")
    row = await NOTIFICATIONS.insert(database, Notification(type="alarm"), creator_id=ann)
    for user_id in (ann, bob):
        await links.add(database, links.USER_NOTIFICATION, user_id, row.id)
    kind = BY_TABLE["notifications"]
    assert await quotas.owned(database, kind, kind.shared, ann) == (2,)
    assert await quotas.owned(database, kind, kind.shared, bob) == (0,)
    await database.execute("delete from users where id = $1", ann)
    assert await quotas.owned_by_all(database, kind, kind.shared) == (1,)
    assert await quotas.owned_by_users(database, kind, kind.shared) == {}


async def test_links_of_users_that_are_deleted_count_for_whom_they_counted_before(database, make_user):
    ann, bob, cat = [await make_user(name) for name in ("ann", "bob", "cat")]
    rows = [
        await NOTIFICATIONS.insert(database, Notification(type="alarm"), creator_id=creator)
        for creator in (ann, bob, None)
    ]
    for row in rows:
        for user_id in (ann, bob, cat):
            await links.add(database, links.USER_NOTIFICATION, user_id, row.id)
    # In one statement: what these own belongs to nobody when their own links end.
    await database.execute("delete from users where id = any($1::bigint[])", [ann, bob])
    assert await kept(database) >= {("user", None, "notifications:links", 3)}
    assert await kept(database) == await counted(database)


async def test_a_link_that_is_added_while_its_creator_is_deleted_counts_for_nobody(
    database, make_user, meanwhile
):
    ann, bob = await make_user("ann"), await make_user("bob")
    row = await NOTIFICATIONS.insert(database, Notification(type="alarm"), creator_id=ann)
    await links.add(database, links.USER_NOTIFICATION, ann, row.id)

    async def delete():
        await database.execute("delete from users where id = $1", ann)

    async with meanwhile(delete) as transaction:
        await links.add(transaction, links.USER_NOTIFICATION, bob, row.id)
    assert await kept(database) == await counted(database)


@pytest.fixture
def make_user(database):
    async def make(name):
        sql = "insert into users (name, email) values ($1, $1) returning id"
        return await database.fetch_value(sql, name)

    return make

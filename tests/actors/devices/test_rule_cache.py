"""What is configured for devices: looked up over groups, and followed from change to change."""

import base64
import random
from datetime import UTC, datetime

import msgspec
import pytest

from motorpool.actors.change_feed import concerns_rules
from motorpool.actors.devices.rule_cache import RELOAD_SECONDS, RuleCache, RuleCacheActor
from motorpool.actors.messages.changes import (
    ApplyChanges,
    AttributeChanged,
    CalendarChanged,
    DeviceChanged,
    DriverChanged,
    EverythingChanged,
    GeofenceChanged,
    GroupChanged,
    LinkChanged,
    MaintenanceChanged,
    ServerChanged,
)
from motorpool.actors.messages.rule_cache import RULE_CACHE, GetRules
from motorpool.actors.rules.device_rules import WindowsMissing
from motorpool.actors.rules.rule_settings import DEFAULTS, RuleSettings
from motorpool.actors.rules.sensor_limits import SensorLimit
from motorpool.runtime import ChildSpec
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links, server
from motorpool.storage.devices import devices, groups
from motorpool.storage.records import (
    Calendar,
    ComputedAttribute,
    Device,
    Driver,
    Geofence,
    Group,
    Maintenance,
)

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
CIRCLE = "CIRCLE (1 2, 1000)"
ALWAYS = (
    "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260601T000000\n"
    "DTEND:20260602T000000\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR\n"
)


@pytest.fixture
def chain(database):
    """Four nested groups, the outermost first, with a speed limit each."""

    async def make():
        made, parent = [], 0
        for limit in (10, 20, 30, 40):
            row = Group(name=str(limit), group_id=parent, attributes={"speedLimit": limit})
            made.append(await groups.TABLE.insert(database, row))
            parent = made[-1].id
        return made

    return make


async def rule_cache_of(database, configuration=DEFAULTS, protocol_attributes=None):
    rule_cache = RuleCache(database, configuration, protocol_attributes)
    await rule_cache.require(())
    return rule_cache


async def test_attributes_are_looked_up_from_the_device_to_the_configuration(database, make_device, chain):
    top, above, parent, group = await chain()
    row = await server.fetch(database)
    await server.save(database, msgspec.structs.replace(row, attributes={"fuelCapacity": 60}))
    own = await make_device("1", group_id=group.id, attributes={"speedLimit": "50"})
    inside = await make_device("2", group_id=group.id)
    alone = await make_device("3")
    configuration = RuleSettings(speed_limit=7.0, fuel_capacity=80.0)
    rule_cache = await rule_cache_of(database, configuration)
    limits = [rule_cache.rules_of(each).settings.speed_limit for each in (own, inside, alone)]
    assert limits == [50, 40, 7]
    assert rule_cache.rules_of(alone).settings.fuel_capacity == 60
    # A group without a limit leaves it to those above, as far as the third level.
    for removed, left in ((group, 30), (parent, 20), (above, 7)):
        await groups.TABLE.update(database, msgspec.structs.replace(removed, attributes={}))
        await rule_cache.apply([GroupChanged(removed.id, "updated", ("attributes.speedLimit",))])
        assert rule_cache.rules_of(inside).settings.speed_limit == left
    assert top.id


async def test_limits_of_sensors_are_looked_up_each_on_its_own(database, make_device, chain):
    _, _, parent, group = await chain()
    row = await server.fetch(database)
    limits = {"sensorLimit.temp1.max": 8, "sensorLimit.temp1.hysteresis": 0.5}
    await server.save(database, msgspec.structs.replace(row, attributes=limits))
    limits = {"sensorLimit.temp1.max": 5, "sensorLimit.rpm.max": 3000}
    await groups.TABLE.update(database, msgspec.structs.replace(parent, attributes=limits))
    own = await make_device("1", group_id=group.id, attributes={"sensorLimit.temp1.min": "0"})
    inside = await make_device("2", group_id=group.id)
    alone = await make_device("3")
    rule_cache = await rule_cache_of(database)
    assert [rule_cache.rules_of(each).sensor_limits for each in (own, inside, alone)] == [
        {"rpm": SensorLimit(most=3000.0), "temp1": SensorLimit(least=0.0, most=5.0, hysteresis=0.5)},
        {"rpm": SensorLimit(most=3000.0), "temp1": SensorLimit(most=5.0, hysteresis=0.5)},
        {"temp1": SensorLimit(most=8.0, hysteresis=0.5)},
    ]
    await groups.TABLE.update(database, msgspec.structs.replace(parent, attributes={}))
    await rule_cache.apply([GroupChanged(parent.id, "updated", ("attributes.sensorLimit.rpm.max",))])
    assert rule_cache.rules_of(inside).sensor_limits == rule_cache.rules_of(alone).sensor_limits


async def test_attributes_of_protocols_are_those_of_groups_the_server_and_the_configuration(
    database, make_device, chain
):
    top, above, parent, group = await chain()
    for each, value in ((top, "top"), (above, "above"), (parent, "parent")):
        attributes = {"suntech.hbm": value, "h02.ack": value, "color": "red"}
        await groups.TABLE.update(database, msgspec.structs.replace(each, attributes=attributes))
    row = await server.fetch(database)
    of_server = {"h02.alternative": True, "devicePassword": "server", "gl200.ack": "server"}
    await server.save(database, msgspec.structs.replace(row, attributes=of_server))
    inside, alone = await make_device("1", group_id=group.id), await make_device("2")
    configured = {"devicePassword": "file", "gt06.language": "true"}
    rule_cache = await rule_cache_of(database, protocol_attributes=configured)
    above_all = {"gt06.language": "true", **of_server}
    assert rule_cache.rules_of(alone).protocol_attributes == above_all
    found = rule_cache.rules_of(inside).protocol_attributes
    assert found == above_all | {"suntech.hbm": "parent", "h02.ack": "parent"}
    await groups.TABLE.update(database, msgspec.structs.replace(parent, attributes={"h02.ack": False}))
    await rule_cache.apply([GroupChanged(parent.id, "updated", ("attributes.h02.ack",))])
    found = rule_cache.rules_of(inside).protocol_attributes
    assert found == above_all | {"suntech.hbm": "above", "h02.ack": False}


async def test_devices_with_the_same_configuration_share_their_rules(database, make_device, chain):
    *_, group = await chain()
    rows = [await make_device(str(number), group_id=group.id) for number in range(3)]
    rule_cache = await rule_cache_of(database)
    assert len({id(rule_cache.rules_of(row)) for row in rows}) == 1
    other = await make_device("other", group_id=group.id, attributes={"filter.zero": True})
    assert rule_cache.rules_of(other) is not rule_cache.rules_of(rows[0])
    assert rule_cache.rules_of(other).settings.filter_zero


async def test_what_is_linked_to_the_device_and_its_groups(database, make_device, chain):
    top, above, _, group = await chain()
    row = await make_device("1", group_id=group.id, attributes={"processing.useLinkedDriver": True})
    mate = await make_device("2")
    fences = [
        await plain_tables.GEOFENCES.insert(database, Geofence(name="x", area=area))
        for area in (CIRCLE, CIRCLE, CIRCLE, "nonsense")
    ]
    await links.add(database, links.DEVICE_GEOFENCE, row.id, fences[0].id)
    await links.add(database, links.GROUP_GEOFENCE, above.id, fences[1].id)
    await links.add(database, links.GROUP_GEOFENCE, top.id, fences[2].id)  # four levels up: too far
    await links.add(database, links.GROUP_GEOFENCE, group.id, fences[3].id)
    expressions = [
        await plain_tables.COMPUTED_ATTRIBUTES.insert(
            database, ComputedAttribute(attribute="a", expression=text, priority=priority)
        )
        for text, priority in (("1", 0), ("2", 5), ("3", -1), ("4", -2), ("(", 0))
    ]
    for each in expressions:
        await links.add(database, links.GROUP_ATTRIBUTE, group.id, each.id)
    task = await plain_tables.MAINTENANCE.insert(database, Maintenance(name="oil", type="hours"))
    await links.add(database, links.DEVICE_MAINTENANCE, row.id, task.id)
    for number in ("9", "8"):
        driver = await plain_tables.DRIVERS.insert(database, Driver(name=number, unique_id=number))
        await links.add(database, links.DEVICE_DRIVER, row.id, driver.id)
    await links.add(database, links.DEVICE_DEVICE, row.id, mate.id)
    rules = (await rule_cache_of(database)).rules_of(row)
    assert rules.geofences.containing(1, 2, 0) == [fences[0].id, fences[1].id]
    assert [each.attribute.expression for each in rules.computed] == ["2", "1"]
    assert [each.attribute.expression for each in rules.early_computed] == ["3", "4"]
    assert rules.maintenances == (task,)
    assert rules.driver_unique_id == "9"
    assert rules.linked_devices == (mate.id,)


async def covers(rule_cache, calendar):
    with pytest.raises(WindowsMissing) as missing:
        calendar.covers(NOW, NOW)
    await rule_cache.prepare(missing.value)
    return calendar.covers(NOW, NOW)


async def test_calendars_of_devices_and_geofences_with_their_zones(database, make_device):
    data = base64.b64encode(ALWAYS.encode()).decode()
    first, second = [
        await plain_tables.CALENDARS.insert(database, Calendar(name=str(zone), data=data, attributes=zone))
        for zone in ({"timezone": "Asia/Tokyo"}, {})
    ]
    broken = await plain_tables.CALENDARS.insert(database, Calendar(name="x", data="?"))
    row = await make_device("1", calendar_id=first.id)
    odd = await make_device("2", calendar_id=broken.id)
    fence = await plain_tables.GEOFENCES.insert(
        database, Geofence(name="x", area=CIRCLE, calendar_id=second.id)
    )
    await links.add(database, links.DEVICE_GEOFENCE, row.id, fence.id)
    rule_cache = await rule_cache_of(database)
    assert rule_cache.rules_of(row).calendar is None
    await rule_cache.require((row, odd))
    rules = rule_cache.rules_of(row)
    assert str(rules.calendar.zone) == "Asia/Tokyo"
    assert await covers(rule_cache, rules.calendar)
    assert list(rules.calendars) == [second.id]
    # What was stored before such text was refused restricts nothing.
    assert await covers(rule_cache, rule_cache.rules_of(odd).calendar)
    settings = await server.fetch(database)
    await server.save(database, msgspec.structs.replace(settings, attributes={"timezone": "Europe/Paris"}))
    await rule_cache.apply([ServerChanged(("attributes.timezone",))])
    rules = rule_cache.rules_of(row)
    assert (str(rules.calendar.zone), str(rules.calendars[second.id].zone)) == ("Asia/Tokyo", "Europe/Paris")
    await plain_tables.CALENDARS.delete(database, first.id)
    await rule_cache.apply([CalendarChanged(first.id, "deleted")])
    assert rule_cache.rules_of(row).calendar is None


def summary(rule_cache, row):
    """Everything of the rules of a device that can be compared."""
    rules = rule_cache.rules_of(row)
    return (
        rules.settings,
        rules.geofences.containing(1, 2, 0),
        [each.attribute for each in rules.early_computed],
        [each.attribute for each in rules.computed],
        rules.maintenances,
        rules.linked_devices,
        rules.driver_unique_id,
    )


async def test_a_catalog_that_follows_changes_is_as_one_that_is_loaded_afresh(database, make_device, seed):
    source = random.Random(seed)
    made_groups = [await groups.TABLE.insert(database, Group(name=str(n))) for n in range(3)]
    rows = [await make_device(str(n), attributes={"processing.useLinkedDriver": True}) for n in range(3)]
    properties = {
        "geofence": (plain_tables.GEOFENCES, Geofence(name="x", area=CIRCLE), GeofenceChanged),
        "attribute": (
            plain_tables.COMPUTED_ATTRIBUTES,
            ComputedAttribute(attribute="a", expression="1"),
            AttributeChanged,
        ),
        "maintenance": (plain_tables.MAINTENANCE, Maintenance(name="x", type="hours"), MaintenanceChanged),
        "driver": (plain_tables.DRIVERS, Driver(name="x", unique_id="x"), DriverChanged),
    }
    numbers = iter(range(1000))
    rule_cache = await rule_cache_of(database)

    async def edit(name):
        table, sample, fact = properties[name]
        rows_there = await table.list(database)
        number = next(numbers)
        if name == "driver":
            sample = msgspec.structs.replace(sample, unique_id=str(number))
        if name == "attribute":
            sample = msgspec.structs.replace(sample, priority=source.choice([-1, 0, 1]))
        if name == "geofence" and source.random() < 0.3:
            sample = msgspec.structs.replace(sample, area=source.choice(["nonsense", "CIRCLE (50 50, 1)"]))
        if not rows_there or source.random() < 0.4:
            return fact((await table.insert(database, sample)).id, "created")
        chosen = source.choice(rows_there)
        if source.random() < 0.3:
            await table.delete(database, chosen.id)
            return fact(chosen.id, "deleted")
        await table.update(database, msgspec.structs.replace(sample, id=chosen.id))
        return fact(chosen.id, "updated")

    async def link(name):
        table = properties[name][0]
        rows_there = await table.list(database)
        if not rows_there:
            return await edit(name)
        owner = source.choice(["device", "group"])
        owner_id = source.choice(rows if owner == "device" else made_groups).id
        property_id = source.choice(rows_there).id
        kind = links.LINK_TYPES[f"{owner}Id", f"{name}Id"]
        if source.random() < 0.3:
            await links.remove_many(database, kind, [(owner_id, property_id)])
        else:
            await links.add(database, kind, owner_id, property_id)
        return LinkChanged(owner, owner_id, name, property_id)

    async def regroup(_):
        chosen = source.choice(made_groups)
        others = [0, *(each.id for each in made_groups if each.id < chosen.id)]
        new = Group(
            id=chosen.id,
            name=chosen.name,
            group_id=source.choice(others),
            attributes=source.choice([{}, {"speedLimit": next(numbers)}]),
        )
        await groups.TABLE.update(database, new)
        return GroupChanged(chosen.id, "updated", ("group_id", "attributes.speedLimit"))

    async def move(_):
        place = source.randrange(len(rows))
        moved = msgspec.structs.replace(rows[place], group_id=source.choice(made_groups).id)
        rows[place] = await devices.TABLE.update(database, moved)
        return DeviceChanged(moved.id, "updated", ("group_id",))

    async def accompany(_):
        first, second = source.sample(rows, 2)
        await links.add(database, links.DEVICE_DEVICE, first.id, second.id)
        return LinkChanged("device", first.id, "linkedDevice", second.id)

    for _ in range(12):
        steps = source.choices([edit, link, link, link, regroup, move, accompany], k=source.randint(1, 4))
        facts = [await step(source.choice(list(properties))) for step in steps]
        generation = rule_cache.generation
        concerned = [fact for fact in facts if concerns_rules(fact)]
        await rule_cache.apply(facts)
        assert not concerned or rule_cache.generation != generation
        fresh = await rule_cache_of(database)
        assert [summary(rule_cache, row) for row in rows] == [summary(fresh, row) for row in rows]
    await rule_cache.apply([EverythingChanged()])
    assert [summary(rule_cache, row) for row in rows] == [summary(fresh, row) for row in rows]


async def test_others_ask_the_actor_and_an_outage_is_made_up_for(database, make_device, tree, outage, time):
    row = await make_device("1", attributes={"speedLimit": 5})
    rule_cache = RuleCache(database)
    async with tree(
        ChildSpec(kind=RULE_CACHE, factory=lambda: RuleCacheActor(rule_cache, database))
    ) as system:
        actor = system.ref(RULE_CACHE)
        found = await actor.ask(GetRules((row.id, 999)))
        assert {number: rules.settings.speed_limit for number, rules in found.items()} == {row.id: 5}
        fence = await plain_tables.GEOFENCES.insert(database, Geofence(name="x", area=CIRCLE))
        await links.add(database, links.DEVICE_GEOFENCE, row.id, fence.id)
        with outage():
            await actor.ask(ApplyChanges((LinkChanged("device", row.id, "geofence", fence.id),)))
        assert len(rule_cache.rules_of(row).geofences) == 0
        await time.passes(RELOAD_SECONDS)
        assert len(rule_cache.rules_of(row).geofences) == 1


def test_the_failure_of_an_attribute_is_new_once():
    rule_cache = RuleCache(None)
    assert [rule_cache.is_new(failure) for failure in ((1, "a"), (1, "b"), (2, "a"))] == [True, False, True]


def test_a_change_of_the_row_itself_is_no_concern_of_the_catalog():
    assert not concerns_rules(DeviceChanged(1, "updated", ("group_id",)))
    assert not concerns_rules(DeviceChanged(1, "created"))
    assert Device().group_id == 0

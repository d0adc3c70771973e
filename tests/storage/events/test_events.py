from datetime import UTC, datetime, timedelta

from motorpool.storage.events import events
from motorpool.storage.records import Event

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def event(kind, device_id=1, *, after=0, **fields):
    return Event(type=kind, event_time=NOW + after * SECOND, device_id=device_id, **fields)


async def test_events_are_numbered_once(database):
    happened = [event("a"), event("b")]
    await events.assign_ids(database, happened)
    ids = [each.id for each in happened]
    assert len(set(ids)) == 2
    assert min(ids) > 0
    await events.assign_ids(database, happened)
    assert [each.id for each in happened] == ids


async def test_an_event_comes_back_as_it_was(database):
    happened = [
        event("geofenceEnter", position_id=3, geofence_id=4, maintenance_id=5, attributes={"a": ["\x00"]})
    ]
    await events.assign_ids(database, happened)
    await events.insert_many(database, happened)
    found = await events.TABLE.fetch(database, happened[0].id)
    assert (found.position_id, found.geofence_id, found.maintenance_id) == (3, 4, 5)
    assert found.attributes == {"a": ["\ufffd"]}
    assert await events.existing(database, [found.id, 999]) == {found.id}


TEXTS = ["'); drop table events; --", "\\'; select 1 / 0; --", "$$ {now} %s", "\N{SNOWMAN}"]


async def test_no_text_of_a_device_is_taken_for_sql(database):
    happened = [event("alarm", id=1, attributes={text: text for text in TEXTS})]
    await events.insert_many(database, happened)
    assert await events.TABLE.fetch(database, 1) == happened[0]


async def test_a_span_is_cut_to_devices_and_types(database):
    happened = [
        event("alarm", 1, after=2),
        event("alarm", 2, after=1),
        event("deviceOnline", 1, after=1),
        event("alarm", 3),
        event("alarm", 1, after=9),
    ]
    await events.assign_ids(database, happened)
    await events.insert_many(database, happened)
    found = await events.between(database, [1, 2], NOW, NOW + 2 * SECOND)
    assert [(each.type, each.device_id) for each in found] == [
        ("alarm", 2),
        ("deviceOnline", 1),
        ("alarm", 1),
    ]
    found = await events.between(database, [1, 2], NOW, NOW + 2 * SECOND, types=["alarm"])
    assert [each.device_id for each in found] == [2, 1]

from datetime import UTC, datetime

import pytest

from motorpool.storage import plain_tables
from motorpool.storage.database.tables import ListQuery
from motorpool.storage.devices import devices
from motorpool.storage.errors import Conflict, StatementRejected
from motorpool.storage.records import Calendar, Device


async def test_a_device_keeps_every_field_that_is_its_own(database):
    calendar = await plain_tables.CALENDARS.insert(database, Calendar(name="shift"))
    device = Device(
        name="van",
        unique_id="867530912345678",
        calendar_id=calendar.id,
        phone="+49 1",
        model="GT06",
        contact="Ann",
        category="van",
        disabled=True,
        expiration_time=datetime(2030, 1, 1, tzinfo=UTC),
        attributes={"speedLimit": 40.5},
    )
    stored = await devices.TABLE.insert(database, device)
    assert await devices.TABLE.fetch(database, stored.id) == stored
    assert stored.unique_id == device.unique_id


async def test_status_and_place_are_not_the_tables_to_know(database):
    stored = await devices.TABLE.insert(
        database,
        Device(
            name="a",
            unique_id="a",
            status="online",
            position_id=7,
            last_update=datetime(2026, 1, 1, tzinfo=UTC),
        ),
    )
    fetched = await devices.TABLE.fetch(database, stored.id)
    assert (fetched.status, fetched.position_id, fetched.last_update) == ("offline", 0, None)


async def test_a_unique_id_is_taken_once(database):
    await devices.TABLE.insert(database, Device(name="a", unique_id="ABC"))
    await devices.TABLE.insert(database, Device(name="b", unique_id="abc"))
    with pytest.raises(Conflict) as refused:
        await devices.TABLE.insert(database, Device(name="c", unique_id="ABC"))
    assert refused.value.field == "uniqueId"


async def test_a_number_that_differs_by_leading_zeros_is_taken(database):
    await devices.TABLE.insert(database, Device(name="a", unique_id="013912345678"))
    with pytest.raises(Conflict) as refused:
        await devices.TABLE.insert(database, Device(name="b", unique_id="13912345678"))
    assert refused.value.field == "uniqueId"
    # Only numbers are padded.
    await devices.TABLE.insert(database, Device(name="c", unique_id="0x12"))
    await devices.TABLE.insert(database, Device(name="d", unique_id="x12"))


@pytest.mark.parametrize("unique_id", ["", "x" * 129])
async def test_a_unique_id_has_1_to_128_signs(database, unique_id):
    with pytest.raises(StatementRejected):
        await devices.TABLE.insert(database, Device(name="a", unique_id=unique_id))


async def test_the_exact_name_counts_before_the_others(database):
    padded = await devices.TABLE.insert(database, Device(name="a", unique_id="0139x"))
    bare = await devices.TABLE.insert(database, Device(name="b", unique_id="139x"))
    assert await devices.by_unique_ids(database, ("0139x", "139x")) == padded
    assert await devices.by_unique_ids(database, ("139x", "0139x")) == bare
    assert await devices.by_unique_ids(database, ("00139x", "139x")) == bare
    assert await devices.by_unique_ids(database, ("nobody",)) is None


async def test_ids_come_in_the_order_of_the_names(database):
    made = {name: await devices.TABLE.insert(database, Device(name=name, unique_id=name)) for name in "abc"}
    assert await devices.ids_by_unique_ids(database, ("c", "x", "a")) == [made["c"].id, made["a"].id]


@pytest.mark.parametrize("field", ["name", "unique_id", "phone", "model", "contact"])
async def test_the_keyword_looks_into_all_five_columns(database, field):
    values = {"name": "n", "unique_id": "u", field: "findMe"}
    found = await devices.TABLE.insert(database, Device(**values))
    await devices.TABLE.insert(database, Device(name="other", unique_id="other"))
    assert await devices.TABLE.list(database, ListQuery(keyword="FINDme")) == [found]

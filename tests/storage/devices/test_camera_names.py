import msgspec

from motorpool.storage.accounts import server
from motorpool.storage.devices import devices, groups
from motorpool.storage.devices.camera_names import names_of
from motorpool.storage.records import Device, Group


async def test_the_nearest_name_counts_for_each_camera(database):
    settings = await server.fetch(database)
    await server.save(database, msgspec.structs.replace(settings, attributes=names(4, "server")))
    top = await groups.TABLE.insert(database, Group(name="top", attributes=names(3, "top") | {"other": 1}))
    low = await groups.TABLE.insert(
        database, Group(name="low", group_id=top.id, attributes={"cameras": {"2": "low", "3": ""}})
    )
    van = await devices.TABLE.insert(
        database, Device(name="van", unique_id="1", group_id=low.id, attributes=names(1, "van"))
    )
    bare = await devices.TABLE.insert(database, Device(name="bare", unique_id="2"))
    assert await names_of(database, [van.id, bare.id, 999]) == {
        van.id: {"1": "van", "2": "low", "3": "top", "4": "server"},
        bare.id: {"4": "server"},
    }
    assert await names_of(database, []) == {}


async def test_what_is_no_object_names_nothing(database):
    for number, cameras in enumerate(("front", ["front"], 1, None)):
        device = Device(name="van", unique_id=str(number), attributes={"cameras": cameras})
        made = await devices.TABLE.insert(database, device)
        assert await names_of(database, [made.id]) == {}


def names(camera, name):
    return {"cameras": {str(camera): name}}

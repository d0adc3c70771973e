from motorpool.actors.messages.changes import CHANGES, DeviceChanged, LinkChanged, UserChanged
from motorpool.api.access import visible_device_ids
from motorpool.api.auth.caller import Caller
from motorpool.storage.accounts import users


async def test_an_administrator_sees_only_linked_devices_unless_asking_for_all(served):
    mine = await served.device(served.admin, "1")
    ann = await served.user("ann", deviceLimit=-1)
    await served.device(ann, "2")
    admin = await users.TABLE.fetch(served.context.database, served.admin_id)
    caller = Caller(user=admin, server=served.context.server)
    assert await visible_device_ids(served.context, caller) == {mine}


async def test_every_change_of_devices_links_and_users_is_published_after_it(served):
    async with served.context.system.topic(CHANGES).subscribe() as changes:
        number = await served.device(served.admin, "1")
        assert await changes.receive_batch() == [(DeviceChanged(number, "created"),)]
        ann = await served.user("ann")
        assert await changes.receive_batch() == [(UserChanged(ann.id, "created"),)]
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
        assert await changes.receive_batch() == [(LinkChanged("user", ann.id, "device", number),)]
        row = (await served.admin.get(f"/devices/{number}")).json()
        await served.admin.put(f"/devices/{number}", json={**row, "name": "A", "attributes": {"a": 1}})
        assert await changes.receive_batch() == [
            (DeviceChanged(number, "updated", ("name", "attributes.a")),)
        ]
        await served.admin.delete(f"/devices/{number}")
        assert await changes.receive_batch() == [(DeviceChanged(number, "deleted"),)]

from motorpool.actors.messages.topics import ACCESS_CHANGES, AccessChanged
from motorpool.api.access import visible_device_ids
from motorpool.api.auth.caller import Caller
from motorpool.storage import users


async def test_an_administrator_too_sees_no_more_than_his_links_unasked(served):
    mine = await served.device(served.admin, "1")
    ann = await served.user("ann", deviceLimit=-1)
    await served.device(ann, "2")
    admin = await users.TABLE.fetch(served.context.database, served.admin_id)
    caller = Caller(user=admin, server=served.context.server)
    assert await visible_device_ids(served.context, caller) == {mine}


async def test_every_change_of_devices_links_and_users_is_told_after_it(served):
    async with served.context.system.topic(ACCESS_CHANGES).subscribe() as changes:
        number = await served.device(served.admin, "1")
        assert await changes.receive_batch() == [AccessChanged(device_ids=(number,))]
        ann = await served.user("ann")
        assert await changes.receive_batch() == [AccessChanged(user_ids=(ann.id,))]
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
        assert await changes.receive_batch() == [AccessChanged(device_ids=(number,))]
        await served.admin.delete(f"/devices/{number}")
        assert await changes.receive_batch() == [AccessChanged(device_ids=(number,))]

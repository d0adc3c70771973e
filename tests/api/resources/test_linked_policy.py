import pytest

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import LinkChanged
from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import ListParameters
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.linked_policy import LinkedPolicy, may_see, may_see_user
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import commands, devices


async def as_user(served, user_id: int) -> Call:
    user = await users.TABLE.fetch(served.context.database, user_id)
    call = Call(served.context, None, {})  # type: ignore[arg-type]  # no request is looked at
    call.optional_caller = Caller(user=user, server=served.context.server)
    return call


async def test_a_list_by_device_or_group_needs_access_to_it_and_keeps_to_ones_own(served, database):
    policy = LinkedPolicy(
        commands.TABLE, links.USER_COMMAND, filters=(links.DEVICE_COMMAND, links.GROUP_COMMAND)
    )
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    insert = "insert into commands (description, type) values ($1, 'custom') returning id"
    saved = [await database.fetch_value(insert, name) for name in "abc"]
    for command in saved[:2]:
        await links.add(database, links.DEVICE_COMMAND, number, command)
    for command in saved[1:]:
        await links.add(database, links.USER_COMMAND, ann.id, command)
    call = await as_user(served, ann.id)
    with pytest.raises(BadRequest, match="deviceId"):
        await policy.list_query(call, ListParameters(device_id=number))
    with pytest.raises(BadRequest, match="groupId"):
        await policy.list_query(call, ListParameters(group_id=1))
    await links.add(database, links.USER_DEVICE, ann.id, number)
    await publish_changes(served.context.system, LinkChanged("user", ann.id, "device", number))
    query = await policy.list_query(call, ListParameters(device_id=number))
    assert await commands.TABLE.ids(database, query) == [saved[1]]
    admin = await as_user(served, served.admin_id)
    query = await policy.list_query(admin, ListParameters(device_id=number, all=True))
    assert await commands.TABLE.ids(database, query) == saved[:2]


async def test_access_is_by_link_and_an_administrator_has_it_to_all_that_exists(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    hers, admins = await as_user(served, ann.id), await as_user(served, served.admin_id)
    assert not await may_see(hers, devices.TABLE, number)
    assert await may_see(admins, devices.TABLE, number)
    for unknown in (0, -1, number + 99, 2**63, 2**80):
        assert not await may_see(admins, devices.TABLE, unknown)


async def test_users_are_seen_by_themselves_their_manager_and_administrators(served, database):
    ann, boss = await served.user("ann"), await served.user("boss", userLimit=-1)
    assert await may_see_user(await as_user(served, ann.id), database, ann.id)
    assert not await may_see_user(await as_user(served, ann.id), database, boss.id)
    assert not await may_see_user(await as_user(served, boss.id), database, ann.id)
    await links.add(database, links.USER_USER, boss.id, ann.id)
    assert await may_see_user(await as_user(served, boss.id), database, ann.id)
    assert await may_see_user(await as_user(served, served.admin_id), database, ann.id)

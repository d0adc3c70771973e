"""How much users see, and when they were here (docs/users.md#activity)."""

import pytest
import trio

from motorpool.api.resources.user_activity import MAX_USERS


@pytest.fixture
async def ann(served):
    return await served.user("ann", deviceLimit=-1)


async def activity(client, *ids):
    query = "&".join(f"id={each}" for each in ids)
    answer = await client.get(f"/users/activity?{query}")
    assert answer.status == 200, answer.text
    return answer.json()


async def test_devices_are_counted_once_whichever_way_they_are_seen(served, ann):
    top = (await served.admin.post("/groups", json={"name": "Top"})).json()["id"]
    low = (await served.admin.post("/groups", json={"name": "Low", "groupId": top})).json()["id"]
    both = await served.device(served.admin, "1", groupId=low)
    await served.device(served.admin, "2", groupId=top)
    await served.device(ann, "3")
    for link in ({"userId": ann.id, "groupId": top}, {"userId": ann.id, "deviceId": both}):
        assert (await served.admin.post("/permissions", json=link)).status == 204
    (found,) = await activity(served.admin, ann.id)
    assert found["devices"] == 3


async def test_a_login_is_known_by_its_instant_and_acting_as_somebody_is_none_of_theirs(served, ann):
    made = (
        await served.admin.post(
            "/users", json={"name": "new", "email": "new@example.org", "password": "secret 1"}
        )
    ).json()
    assert (await served.admin.get(f"/session/{made['id']}")).status == 200
    await served.admin.get(f"/session/{served.admin_id}")
    first, second = await activity(served.admin, ann.id, made["id"])
    assert first["lastLogin"] is not None
    assert first["sessions"] == 1
    assert (second["lastLogin"], second["sessions"], second["devices"]) == (None, 0, 0)
    served.clock.move_wall(3600)
    await served.log_in("new@example.org", "secret 1")
    (again,) = await activity(served.admin, made["id"])
    assert again["lastLogin"] > first["lastLogin"]
    assert again["sessions"] == 1


async def test_no_login_waits_for_who_counts_the_devices_of_the_user(served, ann):
    async with served.context.database.transaction() as counting:
        await counting.execute("select id from users where id = $1 for no key update", ann.id)
        with trio.fail_after(30):
            await served.log_in("ann@example.org", "ann")


async def test_managers_are_told_of_their_users_and_nobody_of_others(served, ann):
    boss = await served.user("boss", userLimit=-1)
    link = {"userId": boss.id, "managedUserId": ann.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    assert [each["userId"] for each in await activity(boss, ann.id, served.admin_id, boss.id)] == [ann.id]
    assert (await ann.get(f"/users/activity?id={ann.id}")).status == 400
    many = "&".join(f"id={each}" for each in range(1, MAX_USERS + 2))
    assert (await served.admin.get(f"/users/activity?{many}")).status == 400

"""Sessions as another user: the way back, and those in which nothing can be changed
(docs/authentication.md#acting-as-another-user)."""

import pytest

from motorpool.api.logins.view_only import SERVED
from motorpool.api.resources import OPERATIONS


@pytest.fixture
async def ann(served):
    return await served.user("ann", deviceLimit=-1)


@pytest.fixture
async def boss(served, ann):
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1)
    link = {"userId": boss.id, "managedUserId": ann.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    return boss


async def act_as(client, user_id, query=""):
    answer = await client.get(f"/session/{user_id}{query}")
    assert answer.status == 200, answer.text
    return answer.json()


async def test_a_session_says_who_acts_in_it_and_leads_back_to_a_session_of_their_own(served, boss, ann):
    shown = await act_as(boss, ann.id)
    assert shown == (await boss.get("/session")).json()
    facts = {key: shown[key] for key in ("id", "impersonatorId", "impersonatorName", "viewOnly")}
    assert facts == {
        "id": ann.id,
        "impersonatorId": boss.id,
        "impersonatorName": "boss",
        "viewOnly": False,
    }
    back = await act_as(boss, boss.id)
    assert (back["id"], back["impersonatorId"], back["impersonatorName"]) == (boss.id, 0, None)
    assert (await boss.get("/users")).json() != []
    # To oneself, and to nobody else by it.
    await act_as(boss, ann.id)
    assert (await boss.get(f"/session/{served.admin_id}")).status == 401
    # Nobody else finds a way to the boss.
    assert (await ann.get(f"/session/{boss.id}")).status == 401


async def test_a_token_that_was_issued_while_acting_leads_nobody_back(served, boss, ann):
    await act_as(boss, ann.id)
    token = (await boss.post("/session/token", form={})).text
    assert (await ann.get(f"/session?token={token}")).json()["impersonatorId"] == boss.id
    assert (await ann.get(f"/session/{boss.id}")).status == 401
    program = served.client({"Authorization": f"Bearer {token}"})
    assert (await program.get(f"/session/{boss.id}")).status == 401


async def test_users_who_manage_each_other_get_no_session_of_the_actor_by_a_token(served):
    ann, boss = [await served.user(name, userLimit=-1) for name in ("ann", "boss")]
    for above, below in ((ann, boss), (boss, ann)):
        link = {"userId": above.id, "managedUserId": below.id}
        assert (await served.admin.post("/permissions", json=link)).status == 204
    await act_as(boss, ann.id)
    token = (await boss.post("/session/token", form={})).text
    program = served.client({"Authorization": f"Bearer {token}"})
    assert (await program.get(f"/session/{boss.id}")).status == 401
    assert (await act_as(boss, boss.id))["impersonatorId"] == 0


async def test_the_way_back_ends_with_what_the_actor_is(served, boss, ann):
    await act_as(boss, ann.id, "?viewOnly=true")
    record = (await served.admin.get(f"/users/{boss.id}")).json()
    assert (await served.admin.put(f"/users/{boss.id}", json={**record, "disabled": True})).status == 200
    assert (await boss.get(f"/session/{boss.id}")).status == 401


async def test_in_a_session_that_only_shows_everything_is_read_and_nothing_changed(served, boss, ann):
    number = await served.device(ann, "7")
    shown = await act_as(boss, ann.id, "?viewOnly=true")
    assert shown["viewOnly"] is True
    assert [each["id"] for each in (await boss.get("/devices")).json()] == [number]
    assert (await boss.get("/socket")).status != 403
    device = (await boss.get(f"/devices/{number}")).json()
    for answer in (
        await boss.put(f"/devices/{number}", json={**device, "name": "Other"}),
        await boss.delete(f"/devices/{number}"),
        await boss.post("/commands/send", json={"deviceId": number, "type": "positionSingle"}),
        await boss.post("/session/token", form={}),
        await boss.put(f"/users/{ann.id}", json={**shown, "name": "Other"}),
    ):
        assert (answer.status, answer.text) == (403, "this session only shows what the user sees")
    assert (await ann.get(f"/devices/{number}")).json()["name"] == device["name"]
    # What is refused is in the audit log, with who acted.
    entries = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    entry = next(each for each in entries if each["attributes"].get("viewOnly"))
    assert (entry["actionType"], entry["userId"], entry["attributes"]["impersonatorId"]) == (
        "login",
        ann.id,
        boss.id,
    )
    await act_as(boss, boss.id)
    entries = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    assert any(each["attributes"].get("actedAs") == ann.id for each in entries)


def changing():
    return [each for each in OPERATIONS if each.method != "GET" and (each.method, each.path) not in SERVED]


async def test_administrators_change_nothing_in_such_a_session_either_whoever_they_look_as(served, ann):
    other = await served.user("other", administrator=True)
    number = await served.device(other, "7")
    await act_as(served.admin, other.id, "?viewOnly=true")
    for operation in changing():
        path = operation.path
        for name, kind in operation.path_parameters:
            ending = {int: "}", str: ":text}"}[kind]
            path = path.replace(f"{{{name}{ending}", "1").replace(f"{{{name}:path}}", "x")
        answer = await getattr(served.admin, operation.method.lower())(path, json={})
        assert (answer.status, answer.text) == (403, "this session only shows what the user sees"), path
    assert (await served.admin.get(f"/stream/{number}/1/talk")).status == 403
    assert (await served.admin.delete("/session")).status == 204


async def test_a_session_that_only_shows_is_never_ones_own_and_one_may_act_out_of_it(served, boss, ann):
    assert (await act_as(boss, boss.id, "?viewOnly=true"))["viewOnly"] is False
    await act_as(boss, ann.id, "?viewOnly=true")
    assert (await act_as(boss, ann.id))["viewOnly"] is False
    await served.device(boss, "8")


async def test_a_body_does_not_say_who_acts(served, ann):
    record = (await served.admin.get(f"/users/{ann.id}")).json()
    sent = {**record, "impersonatorId": 5, "impersonatorName": "x", "viewOnly": True, "totpNeeded": True}
    answer = await served.admin.put(f"/users/{ann.id}", json=sent)
    assert answer.json() == record
    assert (await served.admin.get(f"/users/{ann.id}")).json() == record

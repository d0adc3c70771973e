from datetime import UTC, datetime

from motorpool.api.resources import devices
from motorpool.storage.accounts import links

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def test_a_device_is_made_linked_to_its_maker_and_read_back(served):
    made = await served.admin.post(
        "/devices",
        json={
            "id": 77,
            "name": " Truck ",
            "uniqueId": " 013912345678 ",
            "status": "online",
            "positionId": 9,
            "lastUpdate": "2026-01-01T00:00:00Z",
            "phone": " 12 ",
            "groupId": None,
            "attributes": None,
            "extra": 1,
        },
    )
    assert made.status == 200
    device = made.json()
    assert device == {
        "id": device["id"],
        "name": "Truck",
        "uniqueId": "013912345678",
        "status": "offline",
        "lastUpdate": None,
        "positionId": 0,
        "groupId": 0,
        "calendarId": 0,
        "phone": "12",
        "model": None,
        "contact": None,
        "category": None,
        "disabled": False,
        "expirationTime": None,
        "attributes": {},
    }
    assert device["id"] != 77
    assert (await served.admin.get(f"/devices/{device['id']}")).json() == device
    assert (await served.admin.get("/devices")).json() == [device]


async def test_a_wrong_device_is_400_that_names_the_field(served):
    for sent, named in [
        ({"name": "x"}, "uniqueId"),
        ({"uniqueId": "x"}, "name"),
        ({"name": "x", "uniqueId": "  "}, "uniqueId"),
        ({"name": "x", "uniqueId": "y" * 129}, "uniqueId"),
        ({"name": 5, "uniqueId": "y"}, "name"),
        ({"name": "x", "uniqueId": "y", "groupId": 999}, "groupId"),
        ({"name": "x", "uniqueId": "y", "expirationTime": "2026-05-01"}, "expirationTime"),
    ]:
        refused = await served.admin.post("/devices", json=sent)
        assert refused.status == 400
        assert named in refused.text


async def test_a_number_that_differs_only_in_leading_zeros_is_taken(served):
    await served.device(served.admin, "013912345678")
    for number in ("013912345678", "13912345678", "0013912345678"):
        refused = await served.admin.post("/devices", json={"name": "x", "uniqueId": number})
        assert refused.status == 400, number
        assert "uniqueId" in refused.text


async def test_put_replaces_and_ignores_what_only_the_server_writes(served):
    number = await served.device(served.admin, "1", phone="5", attributes={"a": 1})
    stored = await served.admin.put(
        f"/devices/{number}", json={"name": "New", "uniqueId": "1", "status": "online", "positionId": 5}
    )
    assert stored.status == 200
    device = stored.json()
    assert (device["name"], device["phone"], device["attributes"]) == ("New", None, {})
    assert (device["status"], device["positionId"]) == ("offline", 0)


async def test_the_id_of_the_body_must_be_the_paths(served):
    number = await served.device(served.admin, "1")
    sent = {"name": "x", "uniqueId": "1"}
    assert (await served.admin.put(f"/devices/{number}", json={**sent, "id": number + 1})).status == 400
    assert (await served.admin.put(f"/devices/{number}", json={**sent, "id": number})).status == 200


async def test_others_do_not_see_a_device_until_they_are_linked(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    sent = {"name": "x", "uniqueId": "1"}
    assert (await ann.get(f"/devices/{number}")).status == 404
    assert (await ann.put(f"/devices/{number}", json=sent)).status == 400
    assert (await ann.delete(f"/devices/{number}")).status == 400
    assert (await ann.get("/devices")).json() == []
    assert (
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    ).status == 204
    assert (await ann.get(f"/devices/{number}")).status == 200
    assert (await ann.put(f"/devices/{number}", json=sent)).status == 200
    assert (await ann.delete(f"/devices/{number}")).status == 204
    assert (await served.admin.get(f"/devices/{number}")).status == 404


async def test_unknown_ids_are_404_but_400_to_write_for_who_may_not_know(served):
    ann = await served.user("ann")
    for number in (999, 2**31, 2**63, 10**30):
        assert (await ann.get(f"/devices/{number}")).status == 404
        assert (await served.admin.get(f"/devices/{number}")).status == 404
        assert (await ann.delete(f"/devices/{number}")).status == 400
        assert (await served.admin.delete(f"/devices/{number}")).status == 404
        answer = await served.admin.put(f"/devices/{number}", json={"id": number})
        assert "name" not in answer.text, "what the body lacks is told only of a device that there is"
    assert (await served.admin.get("/devices/abc")).status == 404
    assert (await served.admin.get("/devices/-1")).status == 404


async def test_limits_and_restrictions_are_400(served):
    limited = await served.user("limited", deviceLimit=1)
    await served.device(limited, "1")
    over = await limited.post("/devices", json={"name": "x", "uniqueId": "2"})
    assert over.status == 400
    assert "limit" in over.text
    unlimited = await served.user("unlimited", deviceLimit=-1)
    for number in ("3", "4"):
        await served.device(unlimited, number)
    none = await served.user("none")
    assert (await none.post("/devices", json={"name": "x", "uniqueId": "5"})).status == 400
    for flag in ("readonly", "deviceReadonly"):
        held = await served.user(flag, deviceLimit=-1, **{flag: True})
        assert (await held.post("/devices", json={"name": "x", "uniqueId": "6"})).status == 400


async def test_the_servers_flags_hold_for_everybody_but_administrators(served):
    ann = await served.user("ann", deviceLimit=-1)
    settings = (await served.admin.get("/server")).json()
    await served.admin.put("/server", json={**settings, "deviceReadonly": True, "forceSettings": True})
    assert (await ann.post("/devices", json={"name": "x", "uniqueId": "6"})).status == 400
    await served.device(served.admin, "7")


async def test_lists_take_filters(served):
    ann = await served.user("ann", deviceLimit=-1)
    mine = [await served.device(served.admin, number) for number in ("30", "10", "20")]
    hers = await served.device(ann, "99", model="Trail_Blazer 100%", attributes={"a": 1})

    async def ids(client, query):
        answer = await client.get(f"/devices{query}")
        assert answer.status == 200, answer.text
        return [device["id"] for device in answer.json()]

    assert await ids(served.admin, "") == [mine[1], mine[2], mine[0]]
    assert await ids(served.admin, "?all=true") == [mine[1], mine[2], mine[0], hers]
    assert await ids(ann, "?all=true") == [hers]
    assert await ids(served.admin, "?limit=2") == [mine[1], mine[2]]
    assert await ids(served.admin, "?limit=2&offset=2") == [mine[0]]
    assert await ids(served.admin, "?offset=2") == [mine[1], mine[2], mine[0]]
    assert await ids(served.admin, f"?userId={ann.id}") == [hers]
    assert (await ann.get(f"/devices?userId={served.admin_id}")).status == 400
    assert await ids(served.admin, "?keyword=VEHICLE+2") == [mine[1 + 1]]
    assert await ids(served.admin, "?all=true&keyword=_blazer+100%25") == [hers]
    assert await ids(served.admin, "?keyword=%25") == []
    assert await ids(served.admin, f"?id={mine[0]}&id={hers}&id=12345") == [mine[0], hers]
    assert await ids(ann, f"?id={mine[0]}&id={hers}") == [hers]
    assert await ids(served.admin, "?uniqueId=10&uniqueId=none") == [mine[1]]
    without = (await ann.get("/devices?excludeAttributes=true")).json()
    assert without[0]["attributes"] == {}
    for wrong in ("?limit=x", "?limit=-1", "?userId=abc", "?id=1&id=x", "?all=maybe"):
        assert (await served.admin.get(f"/devices{wrong}")).status == 400, wrong


async def test_a_manager_sees_his_own_and_his_users_devices_with_all(served):
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1)
    made = await boss.post("/users", json={"name": "a", "email": "a@example.org", "password": "a"})
    own = await served.device(boss, "1")
    his = await served.device(served.admin, "2")
    await served.device(served.admin, "3")
    await served.admin.post("/permissions", json={"userId": made.json()["id"], "deviceId": his})
    assert [device["id"] for device in (await boss.get("/devices")).json()] == [own]
    assert [device["id"] for device in (await boss.get("/devices?all=true")).json()] == [own, his]
    assert [device["id"] for device in (await boss.get(f"/devices?userId={made.json()['id']}")).json()] == [
        his
    ]


async def test_a_group_gives_its_devices_to_its_users(served):
    ann = await served.user("ann")
    group = (await served.admin.post("/groups", json={"name": "North"})).json()["id"]
    number = await served.device(served.admin, "1", groupId=group)
    await served.admin.post("/permissions", json={"userId": ann.id, "groupId": group})
    assert [device["id"] for device in (await ann.get("/devices")).json()] == [number]
    assert (await ann.get(f"/devices/{number}")).status == 200


async def test_live_fields_come_from_the_actors(served):
    number = await served.device(served.admin, "1")
    (stored,) = await served.report(served.position(number, NOON))
    device = (await served.admin.get(f"/devices/{number}")).json()
    assert device["positionId"] == stored.id
    assert device["lastUpdate"] == "2026-05-01T12:00:00Z"


async def test_a_long_list_comes_whole_and_in_order(served, database):
    await database.execute(
        "insert into devices (name, unique_id)"
        " select to_char(n, '00000'), 'x' || n from generate_series(1, 2500) n"
    )
    listed = (await served.admin.get("/devices?all=true")).json()
    assert [device["name"].strip() for device in listed] == [f"{n:05}" for n in range(1, 2501)]


async def test_creating_changing_and_deleting_are_audited(served, database):
    number = await served.device(served.admin, "1")
    await served.admin.put(f"/devices/{number}", json={"name": "x", "uniqueId": "1"})
    await served.admin.delete(f"/devices/{number}")
    rows = await database.fetch("select * from audit where object_type = 'device' order by id")
    assert [row["action_type"] for row in rows] == ["create", "edit", "remove"]
    assert {(row["object_id"], row["user_id"]) for row in rows} == {(number, served.admin_id)}
    assert not await links.owners(database, links.USER_DEVICE, number)


async def test_a_list_tells_changes_of_rows_status_and_links_although_its_json_is_kept(served, monkeypatch):
    ids = [await served.device(served.admin, str(number), attributes={"a": number}) for number in range(60)]
    reader = await served.user("reader")
    link = {"userId": reader.id, "deviceId": ids[0]}
    await served.admin.post("/permissions", json=link)
    before = (await served.admin.get("/devices")).json()
    assert sorted(each["id"] for each in before) == ids
    assert [each["id"] for each in (await reader.get("/devices")).json()] == [ids[0]]
    (changed,) = (each for each in before if each["id"] == ids[0])
    await served.admin.put(f"/devices/{ids[0]}", json={**changed, "name": "zzz"})
    await served.report(served.position(ids[1]))
    await served.admin.delete(f"/devices/{ids[2]}")
    after = (await served.admin.get("/devices")).json()
    assert sorted(each["id"] for each in after) == [ids[0], ids[1], *ids[3:]]
    assert after[-1]["name"] == "zzz"
    for each in after:
        assert each == (await served.admin.get(f"/devices/{each['id']}")).json()
    (reported,) = (each for each in after if each["id"] == ids[1])
    assert reported["positionId"] > 0
    bare = (await served.admin.get("/devices?excludeAttributes=true")).json()
    assert bare == [{**each, "attributes": {}} for each in after]
    assert (await served.admin.get("/devices")).json() == after
    await served.admin.delete("/permissions", json=link)
    assert (await reader.get("/devices")).json() == []
    monkeypatch.setattr(devices, "MAX_KEPT_LIST", 10)
    assert (await served.admin.get("/devices")).json() == after

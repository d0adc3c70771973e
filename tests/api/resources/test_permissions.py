import pytest


async def test_linking_twice_and_unlinking_what_is_not_linked_are_harmless(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    link = {"userId": ann.id, "deviceId": number}
    for _ in range(2):
        assert (await served.admin.post("/permissions", json=link)).status == 204
    assert (await served.admin.get(f"/permissions?userId={ann.id}&deviceId=0")).json() == [link]
    for _ in range(2):
        assert (await served.admin.delete("/permissions", json=link)).status == 204
    assert (await ann.get(f"/devices/{number}")).status == 404


async def test_what_is_no_link_of_two_known_kinds_owner_first_is_400(served):
    for body in [
        {},
        {"userId": 1},
        {"deviceId": 1, "userId": 1},
        {"userId": 1, "deviceId": 1, "groupId": 1},
        {"userId": 1, "shipId": 1},
        {"userId": "1", "deviceId": 1},
        {"userId": 1, "deviceId": 0},
        [],
        5,
        {"userId": 1, "deviceId": 2**63},
        {"userId": 1, "deviceId": -1},
        {"userId": 1.5, "deviceId": 1},
    ]:
        assert (await served.admin.post("/permissions", json=body)).status == 400


async def test_keys_are_read_whatever_their_case(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    assert (
        await served.admin.post("/permissions", json={"UserID": ann.id, "DEVICEid": number})
    ).status == 204
    assert (await ann.get(f"/devices/{number}")).status == 200


async def test_both_sides_must_be_ones_own(served):
    ann = await served.user("ann", deviceLimit=-1)
    bob = await served.user("bob")
    theirs = await served.device(served.admin, "1")
    hers = await served.device(ann, "2")
    assert (await ann.post("/permissions", json={"userId": ann.id, "deviceId": theirs})).status == 400
    assert (await ann.post("/permissions", json={"userId": bob.id, "deviceId": hers})).status == 400
    assert (await ann.delete("/permissions", json={"userId": ann.id, "deviceId": hers})).status == 204


async def test_a_manager_links_what_he_sees_to_his_users(served):
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1)
    made = await boss.post("/users", json={"email": "a@example.org", "password": "a"})
    number = await served.device(boss, "1")
    link = {"userId": made.json()["id"], "deviceId": number}
    assert (await boss.post("/permissions", json=link)).status == 204


async def test_the_readonly_link_nothing(served):
    ann = await served.user("ann", readonly=True)
    number = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert (await ann.delete("/permissions", json={"userId": ann.id, "deviceId": number})).status == 400


async def test_bulk_links_one_kind_in_order_and_keeps_what_was_done_before_a_refusal(served):
    ann = await served.user("ann")
    first, second = [await served.device(served.admin, number) for number in "12"]
    links = [{"userId": ann.id, "deviceId": number} for number in (first, 999, second)]
    assert (await served.admin.post("/permissions/bulk", json=links)).status == 400
    assert [device["id"] for device in (await ann.get("/devices")).json()] == [first]
    mixed = [links[0], {"userId": ann.id, "groupId": 1}]
    assert (await served.admin.delete("/permissions/bulk", json=mixed)).status == 400
    assert (await served.admin.post("/permissions/bulk", json=[])).status == 204
    assert (await served.admin.delete("/permissions/bulk", json=[links[0]])).status == 204
    assert (await ann.get("/devices")).json() == []


async def test_asking_for_links_needs_two_kinds_owner_first_and_one_id(served):
    for query in ["", "?userId=1", "?userId=0&deviceId=0", "?deviceId=1&userId=1", "?userId=x&deviceId=1"]:
        assert (await served.admin.get(f"/permissions{query}")).status == 400


async def test_only_administrators_list_links(served):
    ann = await served.user("ann")
    assert (await ann.get(f"/permissions?userId={ann.id}&deviceId=0")).status == 400


async def test_links_are_audited_with_their_owner(served, database):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    row = await database.fetch_row("select * from audit where action_type = 'link'")
    assert (row["object_type"], row["object_id"]) == ("device", number)
    assert row["attributes"] == {"ownerType": "user", "ownerId": ann.id}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "userId=1",
        "deviceId=0&userId=1",
        "userId=&deviceId=1",
        "userId=null&deviceId=1",
        "userId=1&deviceId=-1",
        "userId=1&deviceId=9223372036854775808",
        "userId=0&deviceId=0",
        "userId=1&deviceId=1&groupId=1",
    ],
)
async def test_links_are_asked_for_by_a_pair_of_ids_with_the_owners_first(served, query):
    assert (await served.admin.get(f"/permissions?{query}")).status == 400

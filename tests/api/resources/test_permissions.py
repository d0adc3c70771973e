import trio
from tests.api.cases import on_one_server

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import DeviceChanged


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


async def test_of_links_those_are_listed_of_which_both_sides_are_ones_own(served):
    ann = await served.user("ann", deviceLimit=-1)
    hers, theirs = await served.device(ann, "1"), await served.device(served.admin, "2")
    circle = {"name": "Depot", "area": "CIRCLE (52.5 13.4, 100)"}
    zone = (await ann.post("/geofences", json=circle)).json()["id"]
    other = (await served.admin.post("/geofences", json=circle)).json()["id"]
    for number in (hers, theirs):
        link = {"deviceId": number, "geofenceId": zone}
        assert (await served.admin.post("/permissions", json=link)).status == 204

    path = "/permissions?deviceId={}&geofenceId={}"
    assert (await ann.get(path.format(0, zone))).json() == [{"deviceId": hers, "geofenceId": zone}]
    assert (await ann.get(path.format(hers, zone))).json() == [{"deviceId": hers, "geofenceId": zone}]
    assert len((await served.admin.get(path.format(0, zone))).json()) == 2
    for owner, owned, key in [(0, other, "geofenceId"), (theirs, 0, "deviceId"), (0, 999, "geofenceId")]:
        refused = await ann.get(path.format(owner, owned))
        assert (refused.status, refused.text) == (400, f"{key}: no access to it, or no such")
    assert (await ann.get("/permissions?userId=0&companyId=1")).status == 400


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


async def test_bulk_links_are_stored_all_or_none_and_the_refused_element_is_named(served):
    ann = await served.user("ann")
    first, second = [await served.device(served.admin, number) for number in "12"]
    links = [{"userId": ann.id, "deviceId": number} for number in (first, 999, second)]
    refused = await served.admin.post("/permissions/bulk", json=links)
    assert (refused.status, refused.text) == (400, "[1].deviceId: no access to it, or no such")
    assert (await ann.get("/devices")).json() == []
    for wrong, text in [
        ([links[0], {"userId": ann.id, "groupId": 1}], "[1]: all links of a list have the same two keys"),
        ([links[0], {"userId": ann.id, "deviceId": "2"}], "[1].deviceId: expected `int`"),
        ([links[0], {"userId": ann.id, "deviceId": True}], "[1].deviceId: expected `int`"),
        ([links[0], {"userId": 0, "deviceId": first}], "[1].userId: no access to it, or no such"),
        ([links[0]] * 1001, "at most 1000 links in one request, these are 1001"),
    ]:
        for change in (served.admin.post, served.admin.delete):
            refused = await change("/permissions/bulk", json=wrong)
            assert (refused.status, refused.text) == (400, text)
    assert (await ann.get("/devices")).json() == []
    assert (await served.admin.post("/permissions/bulk", json=[])).status == 204
    assert (await served.admin.post("/permissions/bulk", json=[links[0], links[2]])).status == 204
    assert [device["id"] for device in (await ann.get("/devices")).json()] == [first, second]
    refused = await served.admin.delete("/permissions/bulk", json=links)
    assert (refused.status, refused.text) == (400, "[1].deviceId: no access to it, or no such")
    assert len((await ann.get("/devices")).json()) == 2
    assert (await served.admin.delete("/permissions/bulk", json=[links[2], links[0]])).status == 204
    assert (await ann.get("/devices")).json() == []


async def test_a_thousand_links_are_added_and_removed_in_one_request(served, database):
    ann = await served.user("ann")
    rows = await database.fetch(
        "insert into devices (name, unique_id) select n, n from generate_series(1, 1000) as n returning id"
    )
    await publish_changes(served.context.system, *(DeviceChanged(row[0], "created") for row in rows))
    links = [{"userId": ann.id, "deviceId": row[0]} for row in rows]
    assert (await served.admin.post("/permissions/bulk", json=links)).status == 204
    assert len((await ann.get("/devices")).json()) == 1000
    audited = "select count(*) from audit where action_type = $1"
    assert await database.fetch_value(audited, "link") == 1000
    assert (await served.admin.delete("/permissions/bulk", json=links)).status == 204
    assert (await ann.get("/devices")).json() == []
    assert await database.fetch_value(audited, "unlink") == 1000


async def test_lists_of_the_same_links_in_another_order_do_not_block_one_another(served):
    ann = await served.user("ann")
    numbers = [await served.device(served.admin, str(number)) for number in range(8)]
    links = [{"userId": ann.id, "deviceId": number} for number in numbers]
    statuses = []

    async def change(request, body):
        statuses.extend([(await request("/permissions/bulk", json=body)).status for _ in range(4)])

    async with trio.open_nursery() as nursery:
        for request in (served.admin.post, served.admin.delete):
            nursery.start_soon(change, request, links)
            nursery.start_soon(change, request, links[::-1])
    assert statuses == [204] * 16


async def test_asking_for_links_needs_two_kinds_owner_first_and_one_id(served):
    for query in ["", "?userId=1", "?userId=0&deviceId=0", "?deviceId=1&userId=1", "?userId=x&deviceId=1"]:
        assert (await served.admin.get(f"/permissions{query}")).status == 400


async def test_links_are_audited_with_their_owner(served, database):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    row = await database.fetch_row("select * from audit where action_type = 'link'")
    assert (row["object_type"], row["object_id"]) == ("device", number)
    assert row["attributes"] == {"ownerType": "user", "ownerId": ann.id}


@on_one_server(
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


async def nested_groups(served, count):
    numbers = [0]
    for level in range(count):
        made = await served.admin.post("/groups", json={"name": f"Level {level}", "groupId": numbers[-1]})
        numbers.append(made.json()["id"])
    return numbers[1:]


async def test_a_manager_links_no_group_below_which_there_are_others_that_they_do_not_see(served):
    boss = await served.user("boss", userLimit=-1)
    made = (await boss.post("/users", json={"email": "a@example.org", "password": "a"})).json()
    chain = await nested_groups(served, 5)
    await served.admin.post("/permissions", json={"userId": boss.id, "groupId": chain[0]})
    text = "groupId: there are groups below it that the caller has no access to"
    for owner in (made["id"], boss.id):
        for path, wrap in (("/permissions", lambda link: link), ("/permissions/bulk", lambda link: [link])):
            for number in chain[1:3]:
                refused = await boss.post(path, json=wrap({"userId": owner, "groupId": number}))
                assert (refused.status, refused.text.removeprefix("[0].")) == (400, text)
    assert (await boss.post("/permissions", json={"userId": made["id"], "groupId": chain[0]})).status == 204
    # What is linked already stays so.
    again = {"userId": made["id"], "groupId": chain[2]}
    assert (await served.admin.post("/permissions", json=again)).status == 204
    assert (await boss.post("/permissions", json=again)).status == 204
    assert (await boss.delete("/permissions", json=again)).status == 204


async def test_managers_neither_part_from_their_users_nor_hand_over_themselves(served):
    boss, deputy = await served.user("boss", userLimit=-1), await served.user("deputy", userLimit=-1)
    link = {"userId": boss.id, "managedUserId": deputy.id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    made = (await boss.post("/users", json={"email": "a@example.org", "password": "a"})).json()
    refused = await boss.delete("/permissions", json=link)
    assert (refused.status, refused.text) == (
        400,
        "userId: only an administrator takes users from the caller",
    )
    refused = await boss.post("/permissions", json={"userId": deputy.id, "managedUserId": boss.id})
    text = "managedUserId: only an administrator changes one's own managers"
    assert (refused.status, refused.text) == (400, text)
    # Of two of their users one may manage the other, and no longer.
    between = {"userId": deputy.id, "managedUserId": made["id"]}
    assert (await boss.post("/permissions", json=between)).status == 204
    assert (await deputy.delete("/permissions", json=between)).status == 400
    assert (await boss.delete("/permissions", json=between)).status == 204
    assert (await served.admin.delete("/permissions", json=link)).status == 204


async def test_what_is_inherited_is_listed_with_the_group_that_it_comes_from(served):
    ann = await served.user("ann")
    groups = []
    for name in ("Top", "Middle", "Low", "Lowest"):
        body = {"name": name, "groupId": groups[-1] if groups else 0}
        groups.append((await served.admin.post("/groups", json=body)).json()["id"])
    devices = [
        await served.device(served.admin, name, groupId=group)
        for name, group in zip("1234", groups, strict=True)
    ]
    alone = await served.device(served.admin, "5")
    zone = {"name": "Depot", "area": "CIRCLE (52.5 13.4, 100)"}
    zone_id = (await served.admin.post("/geofences", json=zone)).json()["id"]
    for link in (
        {"userId": ann.id, "groupId": groups[0]},
        {"userId": ann.id, "deviceId": alone},
        {"groupId": groups[1], "geofenceId": zone_id},
    ):
        assert (await served.admin.post("/permissions", json=link)).status == 204

    async def inherited(query, client=served.admin):
        answer = await client.get(f"/permissions/inherited?{query}")
        assert answer.status == 200, answer.text
        return [tuple(each.values()) for each in answer.json()]

    # To three levels, as access is; links of one's own are none of these.
    expected = [(ann.id, each, groups[0]) for each in devices[:3]]
    assert await inherited(f"userId={ann.id}&deviceId=0") == expected
    assert await inherited(f"userId={ann.id}&groupId=0") == [(ann.id, g, groups[0]) for g in groups[1:3]]
    of_device = await inherited(f"userId=0&deviceId={devices[1]}")
    assert [each for each in of_device if each[0] == ann.id] == [(ann.id, devices[1], groups[0])]
    # The administrator is linked to each group, having made it.
    assert {each for each in of_device if each[0] == served.admin_id} == {
        (served.admin_id, devices[1], each) for each in groups[:2]
    }
    assert await inherited(f"deviceId={devices[2]}&geofenceId=0") == [(devices[2], zone_id, groups[1])]
    assert await inherited(f"deviceId=0&geofenceId={zone_id}") == [
        (each, zone_id, groups[1]) for each in devices[1:]
    ]
    assert await inherited(f"groupId=0&geofenceId={zone_id}") == [(g, zone_id, groups[1]) for g in groups[2:]]
    assert await inherited(f"userId={ann.id}&geofenceId=0") == []
    # What the caller does not see is left out, as among links.
    assert await inherited(f"userId={ann.id}&deviceId=0", ann) == expected
    assert (await ann.get(f"/permissions/inherited?deviceId={devices[3]}&geofenceId=0")).status == 400
    assert (await ann.get("/permissions/inherited?userId=0&deviceId=0")).status == 400
    assert await inherited(f"deviceId={devices[1]}&geofenceId=0", ann) == []


async def test_the_group_of_an_inherited_link_is_named_to_those_only_who_see_it(served):
    boss = await served.user("boss", userLimit=-1, deviceLimit=-1)
    made = await boss.post("/users", json={"name": "x", "email": "x@example.org", "password": "secret 1"})
    ann_id = made.json()["id"]
    group = (await served.admin.post("/groups", json={"name": "Hidden"})).json()["id"]
    number = await served.device(served.admin, "1", groupId=group)
    for link in ({"userId": boss.id, "deviceId": number}, {"userId": ann_id, "groupId": group}):
        assert (await served.admin.post("/permissions", json=link)).status == 204
    query = f"/permissions/inherited?userId={ann_id}&deviceId=0"
    (seen,) = (await boss.get(query)).json()
    assert seen == {"userId": ann_id, "deviceId": number, "throughGroupId": 0}
    assert (await served.admin.get(query)).json()[0]["throughGroupId"] == group

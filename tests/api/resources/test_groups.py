async def test_groups_nest_but_not_in_a_circle(served):
    top = (await served.admin.post("/groups", json={"name": "Top"})).json()
    below = (await served.admin.post("/groups", json={"name": "Below", "groupId": top["id"]})).json()
    assert below["groupId"] == top["id"]
    for parent in (top["id"], below["id"]):
        refused = await served.admin.put(f"/groups/{top['id']}", json={**top, "groupId": parent})
        assert refused.status == 400, parent
    assert (await served.admin.put(f"/groups/{below['id']}", json={**below, "groupId": 0})).status == 200


async def test_a_group_above_must_be_ones_own(served):
    top = (await served.admin.post("/groups", json={"name": "Top"})).json()
    ann = await served.user("ann")
    assert (await ann.post("/groups", json={"name": "Mine", "groupId": top["id"]})).status == 400
    assert (await ann.post("/groups", json={"name": "Mine"})).status == 200
    assert [group["name"] for group in (await ann.get("/groups")).json()] == ["Mine"]


async def test_groups_below_a_linked_one_are_seen_to_three_levels(served):
    ann = await served.user("ann")
    parent = 0
    numbers = []
    for level in range(4):
        made = await served.admin.post("/groups", json={"name": f"Level {level}", "groupId": parent})
        parent = made.json()["id"]
        numbers.append(parent)
    await served.admin.post("/permissions", json={"userId": ann.id, "groupId": numbers[0]})
    assert [group["id"] for group in (await ann.get("/groups")).json()] == numbers[:3]


async def test_deleting_a_group_leaves_its_devices_without_one(served):
    group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
    number = await served.device(served.admin, "1", groupId=group)
    assert (await served.admin.delete(f"/groups/{group}")).status == 204
    assert (await served.admin.get(f"/devices/{number}")).json()["groupId"] == 0


async def test_a_group_needs_a_name(served):
    for name in ("", "  ", None):
        refused = await served.admin.post("/groups", json={"name": name})
        assert (refused.status, refused.text) == (400, "name: needed")
    assert (await served.admin.post("/groups", json={"name": " North "})).json()["name"] == "North"


async def test_groups_lie_in_each_other_to_a_limited_depth(served):
    async def made(parent):
        answer = await served.admin.post("/groups", json={"name": "x", "groupId": parent})
        return answer.json()["id"] if answer.status == 200 else answer.text

    chain = [await made(0)]
    for _ in range(1, 50):
        chain.append(await made(chain[-1]))
    refused = "groupId: more than 50 groups would lie one above the other"
    assert await made(chain[-1]) == refused
    top = await made(0)
    answer = await served.admin.put(f"/groups/{chain[0]}", json={"name": "x", "groupId": top})
    assert (answer.status, answer.text) == (400, refused)
    answer = await served.admin.put(f"/groups/{chain[1]}", json={"name": "x", "groupId": top})
    assert answer.status == 200


async def test_a_group_is_moved_to_where_others_see_it_only_by_who_sees_what_lies_in_it(served):
    ann = await served.user("ann")
    numbers = [0]
    for level in range(4):
        made = await served.admin.post("/groups", json={"name": f"Level {level}", "groupId": numbers[-1]})
        numbers.append(made.json()["id"])
    top, middle, low = numbers[1:4]
    await served.admin.post("/permissions", json={"userId": ann.id, "groupId": top})
    mine = (await ann.post("/groups", json={"name": "Mine"})).json()["id"]
    refused = await ann.put(f"/groups/{low}", json={"name": "Low", "groupId": mine})
    text = "groupId: there are groups below it that the caller has no access to"
    assert (refused.status, refused.text) == (400, text)
    assert (await ann.put(f"/groups/{low}", json={"name": "Low", "groupId": middle})).status == 200
    assert (await ann.put(f"/groups/{middle}", json={"name": "Middle", "groupId": mine})).status == 200
    assert (await served.admin.put(f"/groups/{low}", json={"name": "Low", "groupId": mine})).status == 200

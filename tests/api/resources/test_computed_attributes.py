"""Computed attributes: who may see and write them, and what they give for a device."""

import pytest
from tests.api.cases import on_one_server

LOW = {
    "description": "Low power",
    "attribute": "alarm",
    "expression": "power < 12 ? 'lowPower' : null",
    "type": "string",
}


async def made(served, **fields):
    answer = await served.admin.post("/attributes/computed", json={**LOW, **fields})
    assert answer.status == 200, answer.text
    return answer.json()


@pytest.fixture
async def stored(served):
    return await made(served)


@pytest.fixture
async def device(served):
    """A device with a position."""
    number = await served.device(served.admin, "1")
    await served.report(served.position(number, attributes={"power": 11.5, "input": 6, "fuel": 300}))
    return number


async def test_administrators_write_them_and_get_them_back_as_sent(served):
    stored = await made(served, type="number", priority=-3)
    assert stored == {**LOW, "id": stored["id"], "type": "number", "priority": -3}
    path = f"/attributes/computed/{stored['id']}"
    assert (await served.admin.get(path)).json() == stored
    changed = {**stored, "type": "Boolean", "expression": "power > 1"}
    assert (await served.admin.put(path, json=changed)).json() == changed
    assert (await served.admin.get("/attributes/computed")).json() == [changed]
    cleared = await served.admin.put(path, json=LOW)
    assert cleared.json() == {**LOW, "id": stored["id"], "priority": 0}
    assert (await served.admin.delete(path)).status == 204
    assert (await served.admin.get(path)).status == 404


async def test_others_write_none_but_see_what_they_are_linked_to(served):
    stored = await made(served)
    path = f"/attributes/computed/{stored['id']}"
    for client in (await served.user("ann"), await served.user("max", userLimit=-1)):
        assert (await client.get(path)).status == 404
        assert (await client.get("/attributes/computed")).json() == []
        link = {"userId": client.id, "attributeId": stored["id"]}
        assert (await served.admin.post("/permissions", json=link)).status == 204
        assert (await client.get(path)).json() == stored
        assert (await client.get("/attributes/computed")).json() == [stored]
        for refused in (
            await client.post("/attributes/computed", json=LOW),
            await client.put(path, json=stored),
            await client.delete(path),
        ):
            assert (refused.status, refused.text) == (400, "only an administrator may do this")
    assert (await served.client().get(path)).status == 401


async def test_lists_are_filtered_by_device_group_and_keyword(served):
    device = await served.device(served.admin, "1")
    group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
    low = await made(served)
    high = await made(served, description="High power", expression="power > 30")
    await served.admin.post("/permissions", json={"deviceId": device, "attributeId": low["id"]})
    await served.admin.post("/permissions", json={"groupId": group, "attributeId": high["id"]})

    async def listed(query):
        return [each["id"] for each in (await served.admin.get(f"/attributes/computed?{query}")).json()]

    assert await listed("") == [high["id"], low["id"]]
    assert await listed(f"deviceId={device}") == [low["id"]]
    assert await listed(f"groupId={group}") == [high["id"]]
    assert await listed("keyword=HIGH") == [high["id"]]
    assert await listed("limit=1&offset=1") == [low["id"]]


@on_one_server(
    ("fields", "wanted"),
    [
        ({"expression": "power <"}, "expression: the expression ends too early at character 8"),
        (
            {"expression": "a = 1"},
            "expression: assignments are not available, compare with == at character 3",
        ),
        ({"expression": ""}, "expression: the expression is empty"),
        ({"expression": "1" * 4001}, "expression: the expression is longer than 4000 characters"),
        ({"expression": "a =~ '('"}, "expression: the pattern cannot be used: missing ): ("),
        ({"attribute": " "}, "attribute: needed"),
        ({"attribute": "a" * 129}, "attribute: longer than 128 characters"),
        ({"type": "Date"}, "type: not one of String, Number, Boolean"),
        ({"priority": "high"}, "priority: expected `int`, got `str`"),
    ],
)
async def test_what_cannot_be_computed_is_refused_and_says_where(served, stored, fields, wanted):
    for refused in (
        await served.admin.post("/attributes/computed", json={**LOW, **fields}),
        await served.admin.put(f"/attributes/computed/{stored['id']}", json={**LOW, **fields}),
    ):
        assert (refused.status, refused.text) == (400, wanted)
    assert (await served.admin.get("/attributes/computed")).json() == [stored]


@on_one_server(
    ("expression", "kind", "media_type", "shown"),
    [
        ("power < 12 ? 'lowPower' : null", "String", "text/plain; charset=utf-8", "lowPower"),
        ("(input & 2) != 0", "Boolean", "application/json", "true"),
        ("fuel * 0.1", "Number", "application/json", "30.0"),
        ("fuel / 7", "Number", "application/json", "42"),
        ("fuel * 0.1", "String", "text/plain; charset=utf-8", "30.0"),
        ("`at ${speed} kn, ${protocol}`", "string", "text/plain; charset=utf-8", "at 10.0 kn, jt808"),
    ],
)
async def test_a_trial_computes_from_the_latest_position(served, device, expression, kind, media_type, shown):
    sent = {"attribute": "shown", "expression": expression, "type": kind}
    answer = await served.admin.post(f"/attributes/computed/test?deviceId={device}", json=sent)
    assert (answer.status, answer.headers["Content-Type"], answer.text) == (200, media_type, shown)
    latest = (await served.admin.get("/positions")).json()
    assert latest[0]["attributes"] == {"power": 11.5, "input": 6, "fuel": 300}
    assert (await served.admin.get("/attributes/computed")).json() == []


async def test_a_trial_without_a_value_answers_nothing(served):
    device = await served.device(served.admin, "1")
    await served.report(served.position(device))
    sent = {**LOW, "expression": "null"}
    answer = await served.admin.post(f"/attributes/computed/test?deviceId={device}", json=sent)
    assert (answer.status, answer.body) == (204, b"")


@on_one_server(
    ("expression", "kind", "wanted"),
    [
        ("nowhere", "String", "expression: undefined variable nowhere"),
        ("1 / 0", "Number", "expression: division by zero"),
        ("1 +", "Number", "expression: the expression ends too early at character 4"),
        ("speed + 'x'", "Number", "expression: the value is not a number"),
        ("NaN", "Number", "expression: the value is not a finite number"),
        ("1", "Time", "type: not one of String, Number, Boolean"),
    ],
)
async def test_a_trial_that_fails_says_why(served, device, expression, kind, wanted):
    sent = {"attribute": "alarm", "expression": expression, "type": kind}
    answer = await served.admin.post(f"/attributes/computed/test?deviceId={device}", json=sent)
    assert (answer.status, answer.text) == (400, wanted)


async def test_a_trial_needs_a_device_with_a_position_and_an_administrator(served):
    device = await served.device(served.admin, "1")
    path = f"/attributes/computed/test?deviceId={device}"
    answer = await served.admin.post(path, json=LOW)
    assert (answer.status, answer.text) == (400, "the device has no position yet")
    answer = await served.admin.post("/attributes/computed/test?deviceId=999", json=LOW)
    assert (answer.status, answer.text) == (400, "deviceId: no access to the device")
    answer = await served.admin.post("/attributes/computed/test", json=LOW)
    assert answer.status == 400
    for client in (await served.user("ann"), await served.user("max", userLimit=-1), served.client()):
        assert (await client.post(path, json=LOW)).status == 401


async def test_the_description_names_both_forms_of_the_value(served):
    described = (await served.client().get("/openapi.json")).json()
    answers = described["paths"]["/attributes/computed/test"]["post"]["responses"]
    assert answers["200"]["content"].keys() == {"application/json", "text/plain"}
    assert {"200", "204", "400", "401"} <= answers.keys()
    listed = described["paths"]["/attributes/computed"]["get"]["parameters"]
    assert {each["name"] for each in listed} == {
        "all", "userId", "deviceId", "groupId", "refresh", "limit", "offset", "keyword"
    }  # fmt: skip

import pytest
from tests.api.cases import on_one_server


@pytest.fixture
async def group(served):
    """The path and the body of a group at version 2."""
    made = await served.admin.post("/groups", json={"name": "North"})
    path = f"/groups/{made.json()['id']}"
    assert (await served.admin.put(path, json={"name": "South"})).status == 200
    return path, made.json()


async def test_answers_carry_the_version_of_the_record(served):
    made = await served.admin.post("/devices", json={"name": "Truck", "uniqueId": "7"})
    assert made.headers["ETag"] == '"1"'
    path = f"/devices/{made.json()['id']}"
    assert (await served.admin.get(path)).headers["ETag"] == '"1"'
    assert (await served.admin.put(path, json=made.json())).headers["ETag"] == '"2"'
    assert (await served.admin.get(path)).headers["ETag"] == '"2"'


@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '"1", "2"', "*"])
async def test_an_update_with_the_present_version_is_served(served, group, tag):
    path, body = group
    answer = await served.admin.put(path, json={**body, "name": "East"}, headers={"If-Match": tag})
    assert (answer.status, answer.headers["ETag"]) == (200, '"3"')
    assert (await served.admin.delete(path, headers={"If-Match": '"3"'})).status == 204
    assert (await served.admin.get(path)).status == 404


@on_one_server(
    ("tag", "sent"),
    [
        ('"1"', "1"),
        ('"1", "3"', "1, 3"),
        ("two", "two"),
        ("", ""),
        ('""', '""'),
        ('"", "3"', "3"),
        ('"' + "9" * 99, '"' + "9" * 59),
    ],
)
async def test_a_request_with_another_version_changes_nothing(served, group, tag, sent):
    path, body = group
    text = f"group {body['id']} was changed: it is at version 2, you sent {sent}"
    for answer in (
        await served.admin.put(path, json={**body, "name": "East"}, headers={"If-Match": tag}),
        await served.admin.delete(path, headers={"If-Match": tag}),
    ):
        assert (answer.status, answer.text) == (400, text)
    stored = await served.admin.get(path)
    assert (stored.json()["name"], stored.headers["ETag"]) == ("South", '"2"')


async def test_without_if_match_nothing_is_checked(served, group):
    path, body = group
    assert (await served.admin.put(path, json={**body, "name": "East"})).status == 200


async def test_who_has_no_access_does_not_learn_the_version(served, group):
    path, body = group
    ann = await served.user("ann")
    answer = await ann.put(path, json=body, headers={"If-Match": '"1"'})
    assert (answer.status, answer.text) == (400, "no access to the group")


async def test_the_settings_of_the_server_have_a_version(served):
    read = await served.client().get("/server")
    body = {**read.json(), "announcement": "Tonight"}
    headers = {"If-Match": read.headers["ETag"]}
    saved = await served.admin.put("/server", json=body, headers=headers)
    assert (
        saved.headers["ETag"]
        == (await served.client().get("/server")).headers["ETag"]
        != read.headers["ETag"]
    )
    refused = await served.admin.put("/server", json=body, headers=headers)
    assert (refused.status, refused.text) == (400, "server 1 was changed: it is at version 2, you sent 1")


async def test_requests_that_take_if_match_are_described(served):
    document = (await served.client().get("/openapi.json")).json()
    for path in ("/devices/{id}", "/users/{id}", "/scheduledcommands/{id}", "/server"):
        for method in ("put", "delete"):
            if method in document["paths"][path]:
                names = [each["name"] for each in document["paths"][path][method]["parameters"]]
                assert "If-Match" in names, (method, path)
        assert "ETag" in document["paths"][path]["get"]["responses"]["200"]["headers"]

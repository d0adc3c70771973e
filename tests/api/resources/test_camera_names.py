"""Names of cameras as attributes of devices, groups and the server (docs/devices.md#cameras)."""

from tests.api.cases import on_one_server

NAMES = {"1": "front", "31": "Sitz links, Tür 2"}
REFUSED = [
    ("front", 'cameras: is no object such as {"1": "front"}'),
    (["front"], 'cameras: is no object such as {"1": "front"}'),
    ({"0": "front"}, "cameras: cameras have the numbers 1 to 31"),
    ({"32": "front"}, "cameras: cameras have the numbers 1 to 31"),
    ({"01": "front"}, "cameras: cameras have the numbers 1 to 31"),
    ({"1": 2}, "cameras.1: is not a text"),
    ({"1": "front", "2": ""}, "cameras.2: is empty, or has blanks at its ends"),
    ({"1": " front"}, "cameras.1: is empty, or has blanks at its ends"),
    ({"1": "x" * 41}, "cameras.1: has more than 40 characters"),
    ({"1": "a\nb"}, "cameras.1: has other characters than those of one printed line"),
    ({"1": "a\u202eb"}, "cameras.1: has other characters than those of one printed line"),
]


@on_one_server("path", ["/devices", "/groups", "/server"])
async def test_they_are_checked_where_they_are_stored(served, path):
    if path == "/server":
        target, record = path, (await served.admin.get(path)).json()
    else:
        record = (await served.admin.post(path, json={"name": "x", "uniqueId": "1"})).json()
        target = f"{path}/{record['id']}"
    for names, text in REFUSED:
        answer = await served.admin.put(target, json={**record, "attributes": {"cameras": names}})
        assert (answer.status, answer.text) == (400, f"attributes.{text}")
    for names in (NAMES, {}, None):
        answer = await served.admin.put(target, json={**record, "attributes": {"cameras": names}})
        assert answer.status == 200, answer.text
        assert answer.json()["attributes"]["cameras"] == names


async def test_they_are_checked_when_a_device_is_made(served):
    body = {"name": "x", "uniqueId": "1", "attributes": {"cameras": {"1": []}}}
    answer = await served.admin.post("/devices", json=body)
    assert (answer.status, answer.text) == (400, "attributes.cameras.1: is not a text")

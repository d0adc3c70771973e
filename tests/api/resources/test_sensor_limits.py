"""Limits of sensors as attributes of devices, groups and the server."""

import pytest
from tests.api.cases import on_one_server

from motorpool.api.settings import QuotaSettings

MAX = "sensorLimit.temp1.max"


async def made(served, path):
    """A record, as it is read and sent back."""
    if path == "/server":
        return (await served.admin.get(path)).json()
    answer = await served.admin.post(path, json={"name": "x", "uniqueId": "1"})
    assert answer.status == 200, answer.text
    return answer.json()


async def change(served, path, record, attributes):
    """Status and text of the answer to an edit."""
    target = path if path == "/server" else f"{path}/{record['id']}"
    answer = await served.admin.put(target, json={**record, "attributes": attributes})
    return answer.status, "" if answer.status == 200 else answer.text


@on_one_server("path", ["/devices", "/groups", "/server"])
async def test_what_cannot_be_followed_is_refused_where_it_is_stored(served, path):
    record = await made(served, path)
    for attributes, text in (
        ({MAX: "warm"}, f'attributes.{MAX}: is neither a number nor "none"'),
        (
            {"sensorLimit.temp1.maximum": 1},
            "attributes.sensorLimit.temp1.maximum: is none of sensorLimit.<attribute>."
            "{min,max,hysteresis,minimalDuration}; no spaces, commas or @",
        ),
        (
            {"sensorLimit.temp1.min": 9, MAX: 3},
            "attributes.sensorLimit.temp1.min: 9 is above the max, 3",
        ),
        (
            {"sensorLimit.temp1.minimalDuration": 1e6},
            "attributes.sensorLimit.temp1.minimalDuration: is not a number of seconds from 0 to 86400",
        ),
    ):
        assert await change(served, path, record, attributes) == (400, text)
    good = {
        MAX: "-18",
        "sensorLimit.temp1.hysteresis": 1,
        "sensorLimit.rpm.max": None,
        "sensorLimit.rpm.min": "",
    }
    assert await change(served, path, record, good) == (200, "")


async def test_they_are_checked_when_a_record_is_made(served):
    for path in ("/devices", "/groups"):
        body = {"name": "x", "uniqueId": "1", "attributes": {MAX: []}}
        answer = await served.admin.post(path, json=body)
        assert (answer.status, answer.text) == (400, f'attributes.{MAX}: is neither a number nor "none"')


@pytest.mark.parametrize("path", ["/devices", "/groups", "/server"])
async def test_the_sensors_of_a_record_are_limited(starting, path):
    async with starting(quotas=QuotaSettings(sensor_limits=2)) as served:
        record = await made(served, path)
        two = {f"sensorLimit.temp{n}.{end}": n for n in (1, 2) for end in ("min", "max")}
        assert await change(served, path, record, two) == (200, "")
        refused = (400, "attributes: limits of 3 sensors, of at most 2 (quotas.sensor_limits)")
        assert await change(served, path, record, {**two, "sensorLimit.temp3.max": 1}) == refused
        # What is there may be edited, and become less.
        assert await change(served, path, record, {**two, MAX: 5}) == (200, "")
        assert await change(served, path, record, {MAX: 5}) == (200, "")


async def test_what_is_more_already_stays(starting):
    async with starting(quotas=QuotaSettings(sensor_limits=3)) as served:
        record = await made(served, "/devices")
        three = {f"sensorLimit.temp{n}.max": n for n in (1, 2, 3)}
        assert await change(served, "/devices", record, three) == (200, "")
    async with starting(quotas=QuotaSettings(sensor_limits=2), is_first=False) as served:
        assert await change(served, "/devices", record, {**three, MAX: 9, "other": 1}) == (200, "")
        assert (await change(served, "/devices", record, {**three, "sensorLimit.rpm.max": 1}))[0] == 400

"""Messages of devices explained over the API."""

import sys

import pytest
import trio
from tests.api.cases import on_one_server

from motorpool.actors.gateway import explaining

STATES = "78780a1346040300020005f4c10d0a"


async def explain(client, number, data=STATES, protocol="gt06"):
    return await client.post(f"/devices/{number}/messages/explain", json={"protocol": protocol, "data": data})


def at(parts, offset):
    return next(part for part in parts if part["offset"] <= offset < part["offset"] + part["length"])


@pytest.fixture
async def number(served):
    """The id of a device."""
    return await served.device(served.admin, "1")


async def test_the_parts_of_a_message_are_told_as_the_model_of_the_device_reads_it(served):
    plain = await served.device(served.admin, "1")
    other = await served.device(served.admin, "2", model="R11")
    parts = (await explain(served.admin, plain)).json()
    assert "".join(part["bytes"] for part in parts) == STATES
    assert at(parts, 5)["values"] == {"batteryLevel": 66}
    assert (parts[0]["kind"], at(parts, 12)["kind"]) == ("layout", "check")
    assert at((await explain(served.admin, other)).json(), 5)["values"] == {"power": 10.27}


async def test_the_time_zone_of_the_device_is_that_of_its_messages(served):
    number = await served.device(served.admin, "1", attributes={"decoder.timezone": "Asia/Kolkata"})
    alarm = "787825261803050e161fc9026bfd1c0c38f1242f145c0901cc00287d001fb846060402020006491f0d0a"
    parts = (await explain(served.admin, number, alarm)).json()
    assert at(parts, 4)["values"] == {"deviceTime": "2024-03-05T08:52:31Z"}


async def test_only_administrators_have_messages_explained(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    assert (await explain(ann, number)).status == 400
    assert (await explain(served.admin, number)).status == 200
    assert (await explain(served.admin, 4711)).status == 404


@on_one_server(
    ("protocol", "data", "text"),
    [
        ("none", "00", "protocol: no such protocol"),
        ("gt06", "0g", "data: is not in hexadecimal digits"),
        ("gt06", "", "data: has 0 bytes"),
        ("gt06", " ", "data: has 0 bytes"),
        ("gt06", "00" * 2049, "data: has 2049 bytes"),
    ],
)
async def test_what_is_no_message_is_refused(served, number, protocol, data, text):
    answer = await explain(served.admin, number, data, protocol)
    assert answer.status == 400
    assert text in answer.text


@on_one_server("protocol", ["gt06", "teltonika", "suntech", "watch"])
async def test_hostile_bytes_are_parts_too(served, number, protocol):
    for data in ("00" * 20, "7878ff" + "7979" * 8, b"[3G*1*FFFF*".hex()):
        parts = (await explain(served.admin, number, data, protocol)).json()
        assert "".join(part["bytes"] for part in parts) == data


async def test_requests_take_turns_and_others_are_answered_meanwhile(served):
    number = await served.device(served.admin, "1")
    most, answers = 0, []

    async def watch_processes():
        nonlocal most
        while True:
            most = max(most, served.context.limits.explainers.borrowed_tokens)
            await trio.sleep(0.001)

    async def one(data):
        answers.append(await explain(served.admin, number, data))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_processes)
        async with trio.open_nursery() as asking:
            for count in range(4):
                asking.start_soon(one, STATES + "00" * count)
            await trio.sleep(0.1)
            assert (await served.admin.get("/devices")).status == 200
            assert len(answers) < 4
        nursery.cancel_scope.cancel()
    assert [answer.status for answer in answers] == [200] * 4
    assert most == 1


async def test_a_user_has_thirty_explained_in_a_minute(served, monkeypatch):
    number = await served.device(served.admin, "1")

    async def nothing(message):
        return []

    monkeypatch.setattr("motorpool.api.resources.device_messages.explain_message", nothing)
    statuses = [(await explain(served.admin, number)).status for _ in range(31)]
    assert statuses == [200] * 30 + [429]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("/nowhere/at/all",), "cannot be started"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with status 3"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "was stopped after 0.5 s"),
    ],
)
async def test_a_process_that_fails_costs_its_message_alone(served, monkeypatch, command, text):
    number = await served.device(served.admin, "1")
    with monkeypatch.context() as patched:
        patched.setattr(explaining, "COMMAND", command)
        if "stopped" in text:
            patched.setattr(explaining, "PROCESS_SECONDS", 0.5)
        answer = await explain(served.admin, number)
    assert answer.status == 503
    assert text in answer.text
    assert (await explain(served.admin, number)).status == 200

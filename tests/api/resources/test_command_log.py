"""The log of commands over HTTP and the socket, from a terminal's connection to what its users read."""

import base64
import json
from datetime import UTC, datetime

import pytest
import trio
from trio_websocket import open_websocket_url

from motorpool.actors.gateway.settings import DeviceSettings, PortSettings
from motorpool.api.login_settings import ShareSettings
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    RegistrationResponse,
    TerminalControl,
)
from motorpool.bench.vehicles.jt808.terminal import Terminal, encode_location
from motorpool.codecs.devices import CODECS
from motorpool.storage.devices import commands

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
LOOPBACK = "127.0.0.1"
LOG = "/commands/log"
NIGHTS = (
    b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260401T200000Z\r\n"
    b"DTEND:20260402T040000Z\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


async def known_device(served, number, **fields):
    """A device that has reported a position as a JT/T 808 terminal, so its protocol is known."""
    device = await served.device(served.admin, number, **fields)
    await served.report(served.position(device))
    return device


async def send(client, device_id, status=202, query="", **command):
    answer = await client.post(f"/commands/send{query}", json={"deviceId": device_id, **command})
    assert answer.status == status, answer.text
    return answer


async def log(client, query=""):
    answer = await client.get(f"{LOG}?{query}")
    assert answer.status == 200, answer.text
    return answer.json()


async def logged(client, query=""):
    return [(each["type"], each["state"], each["reason"]) for each in await log(client, query)]


class Line:
    """The connection of a terminal."""

    def __init__(self, stream, terminal):
        self.stream = stream
        self.terminal = terminal
        self.received = []

    async def receive(self, kind=TerminalControl):
        """The next message of a kind; others that came before it are kept."""
        while True:
            for message in self.received:
                if isinstance(message, kind):
                    self.received.remove(message)
                    return message
            self.received += self.terminal.receive(await self.stream.receive_some())


@pytest.fixture
async def terminals(starting, free_port):
    """`served, connect`: `line = await connect(number)` is a terminal that has logged in."""
    port = free_port()
    places = {
        "device": DeviceSettings(host=LOOPBACK),
        "port": PortSettings(offset=port - CODECS["jt808"].port),
    }
    lines = []
    async with starting(protocols=("jt808",), listen=True, **places) as served:

        async def connect(number):
            line = Line(await trio.open_tcp_stream(LOOPBACK, port), Terminal(number))
            lines.append(line)
            await line.stream.send_all(line.terminal.register())
            line.terminal.code = (await line.receive(RegistrationResponse)).code
            await line.stream.send_all(line.terminal.authenticate())
            await line.receive(GeneralResponse)
            await line.stream.send_all(line.terminal.location(encode_location(52.5, 13.4, NOON)))
            await line.receive(GeneralResponse)
            return line

        yield served, connect
        for each in lines:
            each.stream.socket.close()


async def told(socket, row_id, state):
    """Wait until the socket tells of a row in a state."""
    while True:
        message = json.loads(await socket.get_message())
        for each in message.get("commands", ()):
            if (each["id"], each["state"]) == (row_id, state):
                return each


async def test_a_command_is_told_live_from_the_terminal_to_the_log(terminals):
    served, connect = terminals
    device_id = await served.device(served.admin, "13912345678")
    await served.admin.post("/permissions", json={"userId": served.admin_id, "deviceId": device_id})
    headers = [("Cookie", f"JSESSIONID={served.cookie(served.admin)}")]
    with trio.fail_after(60):
        line = await connect("13912345678")
        async with open_websocket_url(
            f"ws://{LOOPBACK}:{served.port}/api/socket", extra_headers=headers
        ) as socket:
            await send(served.admin, device_id, 200, type="engineStop")
            message = await line.receive()
            (sent,) = await log(served.admin)
            assert (sent["state"], sent["origin"], sent["userName"]) == ("SENT", "USER", "Admin")
            assert sent["sentAt"] is not None
            await line.stream.send_all(line.terminal.general_response(message))
            answered = await told(socket, sent["id"], "ANSWERED")
            assert (answered["answerOk"], answered["deviceId"]) == (True, device_id)
            assert await log(served.admin, f"deviceId={device_id}") == [answered]
            # An answer that the end of the connection has cut off does not come any more.
            await send(served.admin, device_id, 200, type="engineResume")
            await line.receive()
            await line.stream.aclose()
            (second, _) = await log(served.admin)
            lost = await told(socket, second["id"], "UNKNOWN")
            assert lost["reason"] == "the connection ended before an answer came"
            # What waits in the queue is sent with the next connection, in its own row.
            while (await served.admin.get(f"/devices/{device_id}")).json()["status"] == "online":  # noqa: ASYNC110 - over HTTP
                await trio.sleep(0.01)
            await send(served.admin, device_id, 202, type="engineStop")
            (queued, *_) = await log(served.admin)
            assert queued["state"] == "QUEUED"
            again = await connect("13912345678")
            message = await again.receive()
            await again.stream.send_all(again.terminal.general_response(message, 1))
            failed = await told(socket, queued["id"], "ANSWERED")
            assert failed["answerOk"] is False


async def test_what_becomes_of_queued_and_refused_commands(served, monkeypatch):
    device_id = await known_device(served, "1")
    await served.admin.post("/permissions", json={"userId": served.admin_id, "deviceId": device_id})
    queued = (await send(served.admin, device_id, type="engineStop", description="Halt")).json()
    await send(served.admin, device_id, 400, type="engineStop", attributes={"noQueue": True})
    await send(served.admin, device_id, 400, type="nonsense")
    assert await logged(served.admin) == [
        ("nonsense", "REFUSED", "jt808 devices do not know the command nonsense"),
        ("engineStop", "REFUSED", "the device is offline"),
        ("engineStop", "QUEUED", None),
    ]
    assert (await served.admin.delete(f"/commands/queue/{queued['id']}")).status == 204
    assert await logged(served.admin, "state=CANCELLED&state=SENT") == [("engineStop", "CANCELLED", None)]
    monkeypatch.setattr(commands, "_ENQUEUE", commands._ENQUEUE.replace("< 1000", "< 0"))
    await send(served.admin, device_id, 400, type="engineResume")
    (full, *_) = await logged(served.admin)
    assert full == ("engineResume", "REFUSED", "1000 commands wait for the device already")
    monkeypatch.undo()
    # What players ask of cameras is left out.
    await send(served.admin, device_id, type="videoStart", attributes={"channel": 1})
    assert len(await log(served.admin)) == 4


async def test_each_device_of_a_group_has_its_row(served):
    group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
    ids = [await known_device(served, number, groupId=group) for number in "12"]
    await served.admin.post("/permissions", json={"userId": served.admin_id, "groupId": group})
    await send(served.admin, 0, query=f"?groupId={group}", type="engineStop")
    found = await log(served.admin)
    assert sorted(each["deviceId"] for each in found) == ids
    assert {each["state"] for each in found} == {"QUEUED"}
    assert [each["deviceId"] for each in await log(served.admin, f"deviceId={ids[0]}")] == ids[:1]


async def test_steps_of_schedules_stand_in_the_log(served, database):
    device_id = await known_device(served, "1")
    await served.admin.post("/permissions", json={"userId": served.admin_id, "deviceId": device_id})
    command = {"type": "engineStop", "description": "Halt at night", "attributes": {}}
    command_id = (await served.admin.post("/commands", json=command)).json()["id"]
    fields = {"name": "Nights", "attributes": {"queueMaxMinutes": 10}, "active": False}
    calendar = {"name": "Nights", "data": base64.b64encode(NIGHTS).decode()}
    calendar_id = (await served.admin.post("/calendars", json=calendar)).json()["id"]
    steps = {"onStart": [{"commandId": command_id}], "calendarId": calendar_id}
    made = await served.admin.post("/scheduledcommands", json={**fields, **steps})
    assert made.status == 200, made.text
    schedule_id = made.json()["id"]
    link = {"deviceId": device_id, "scheduledCommandId": schedule_id}
    assert (await served.admin.post("/permissions", json=link)).status == 204
    run = await served.admin.post(f"/scheduledcommands/{schedule_id}/run", json={"phase": "start"})
    assert run.status in {200, 202}, run.text
    with trio.fail_after(30):
        while not (found := await logged(served.admin)) or found[0][1] != "QUEUED":  # noqa: ASYNC110 - over HTTP
            await trio.sleep(0.01)
    (step,) = await log(served.admin)
    assert (step["origin"], step["scheduledCommandId"]) == ("SCHEDULE", schedule_id)
    assert (step["description"], step["userId"]) == ("Halt at night", served.admin_id)


async def test_readers_see_their_devices_and_no_secrets_of_what_they_may_not_send(served):
    mine, other = await known_device(served, "1"), await known_device(served, "2")
    ann = await served.user("ann")
    limited = await served.user("bob", limitCommands=True)
    blind = await served.user("eve", disableReports=True)
    for each in (ann, limited, blind):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": mine})
    await send(served.admin, mine, type="custom", attributes={"data": "8300", "n": 1})
    await send(ann, mine, type="engineStop", attributes={"devicePassword": "1234", "delay": 5})
    await send(served.admin, other, type="engineStop")
    shown = [each["attributes"] for each in await log(ann)]
    assert shown == [{"devicePassword": "1234", "delay": 5}, {"data": "8300", "n": 1}]
    masked = [each["attributes"] for each in await log(limited)]
    assert masked == [{"devicePassword": "********", "delay": 5}, {"data": "********", "n": "********"}]
    assert await log(ann, f"deviceId={other}") == []
    assert len(await log(served.admin, f"deviceId={other}")) == 1
    assert [each["type"] for each in await log(ann, f"userId={ann.id}")] == ["engineStop"]
    assert (await blind.get(LOG)).status == 400
    (newest, oldest) = await log(ann)
    assert await log(ann, f"beforeId={newest['id']}&limit=1") == [oldest]
    assert await log(ann, "to=2020-01-01T00:00:00Z") == []
    assert (await ann.get(f"{LOG}?state=LOST")).status == 400


async def test_holders_of_a_share_link_are_not_told_who_sent_it(starting):
    async with starting(share=ShareSettings(reports=True)) as served:
        ann = await served.user("ann", deviceLimit=-1)
        device = await served.device(ann, "1")
        await send(ann, device, 400, type="engineStop")
        form = {"deviceId": device, "expiration": "2026-05-02T12:00:00Z"}
        token = (await ann.post("/share/device", form=form)).text
        guest = served.client({"Authorization": f"Bearer {token}"})
        (shown,) = await log(guest)
        assert (shown["userId"], shown["userName"]) == (ann.id, None)
        assert (await log(ann))[0]["userName"] == "ann"

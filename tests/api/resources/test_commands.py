import json

import pytest
from tests.runtime.actor_testing import Probe

from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.messages.downlink import CONNECTION, Transmit, Transmitted
from motorpool.actors.messages.uplink import DEVICE, Connected, GetCommandTypes


async def known_device(served, number, **fields):
    """A device that has reported a position as a JT/T 808 terminal, so its protocol is known."""
    device = await served.device(served.admin, number, **fields)
    await served.report(served.position(device))
    return device


async def test_a_command_to_an_offline_device_is_queued_with_202(served, database):
    number = await known_device(served, "1")
    answer = await served.admin.post(
        "/commands/send", json={"deviceId": number, "type": "positionSingle", "attributes": {"a": 1}}
    )
    assert answer.status == 202, answer.text
    queued = answer.json()
    assert queued == {
        "id": queued["id"],
        "deviceId": number,
        "type": "positionSingle",
        "textChannel": False,
        "attributes": {"a": 1},
    }
    assert (
        await database.fetch_value("select count(*) from queued_commands where device_id = $1", number) == 1
    )


async def test_the_device_may_be_named_as_text(served):
    number = await known_device(served, "1")
    answer = await served.admin.post("/commands/send", json={"deviceId": str(number), "type": "engineStop"})
    assert answer.status == 202, answer.text


async def test_what_cannot_be_sent_or_kept_is_400_with_the_reason(served):
    number = await known_device(served, "1")
    for sent, why in [
        ({"type": "engineStop", "attributes": {"noQueue": True}}, "offline"),
        ({"type": "engineStop", "textChannel": True}, "SMS"),
        ({}, "type"),
        ({"type": "videoStart", "attributes": {"channel": 32}}, "channel"),
        ({"type": "videoStart", "attributes": {"index": 0}}, "channel"),
        ({"type": "videoStart", "attributes": {"channel": "one"}}, "channel"),
        ({"type": "videoStop", "attributes": {"channel": True}}, "channel"),
        ({"type": 5}, "type"),
    ]:
        answer = await served.admin.post("/commands/send", json={"deviceId": number, **sent})
        assert answer.status == 400
        assert why in answer.text


async def test_the_audit_log_says_which_video_was_asked_for(served, database):
    number = await known_device(served, "1")
    span = {"channel": 2, "startTime": "2026-05-01T10:00:00Z", "endTime": "2026-05-01T10:01:00Z"}
    for kind, attributes in (
        ("videoPlayback", {**span, "streamType": 1}),
        ("videoStart", {"index": 3, "startTime": "x"}),
        ("videoPlayback", {**span, "from": "x" * 65}),
        ("engineStop", {"channel": 1}),
    ):
        sent = {"deviceId": number, "type": kind, "attributes": attributes}
        assert (await served.admin.post("/commands/send", json=sent)).status == 202
    rows = await database.fetch("select attributes from audit where action_type = 'command' order by id")
    assert [row[0] for row in rows] == [
        {"type": "videoPlayback", **span},
        {"type": "videoStart", "index": 3},
        {"type": "videoPlayback", **span},
        {"type": "engineStop"},
    ]


async def test_a_device_of_others_or_none_is_400(served):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann")
    for device in (number, 999, 0, -1, 2**70):
        answer = await ann.post("/commands/send", json={"deviceId": device, "type": "engineStop"})
        assert answer.status == 400, device


async def test_the_readonly_may_send_but_the_limited_only_saved_commands(served, database):
    number = await known_device(served, "1")
    for name, flag, status in (("ann", "readonly", 202), ("bob", "limitCommands", 400)):
        client = await served.user(name, **{flag: True})
        await served.admin.post("/permissions", json={"userId": client.id, "deviceId": number})
        answer = await client.post("/commands/send", json={"deviceId": number, "type": "engineStop"})
        assert answer.status == status, name
    saved = await database.fetch_value(
        "insert into commands (description, type) values ('Halt', 'engineStop') returning id"
    )
    refused = await client.post("/commands/send", json={"deviceId": number, "id": saved})
    assert refused.status == 400
    await served.admin.post("/permissions", json={"userId": client.id, "commandId": saved})
    answer = await client.post("/commands/send", json={"deviceId": number, "id": saved, "type": "ignored"})
    assert answer.status == 202, answer.text
    assert answer.json()["type"] == "engineStop"


async def test_a_group_gets_it_on_every_visible_device(served):
    group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
    inside = [await known_device(served, number, groupId=group) for number in "12"]
    await known_device(served, "3")
    answer = await served.admin.post(f"/commands/send?groupId={group}", json={"type": "engineStop"})
    assert answer.status == 202
    assert sorted(queued["deviceId"] for queued in answer.json()) == inside
    ann = await served.user("ann")
    assert (await ann.post(f"/commands/send?groupId={group}", json={"type": "engineStop"})).status == 400


async def test_types_are_listed_for_all_and_for_one_device(served):
    number = await served.device(served.admin, "1")
    every = [entry["type"] for entry in (await served.admin.get("/commands/types")).json()]
    assert {"custom", "videoStart", "videoStop", "positionSingle", "engineStop"} <= set(every)
    assert (await served.admin.get(f"/commands/types?deviceId={number}")).json() == [{"type": "custom"}]
    assert (await served.admin.get(f"/commands/types?deviceId={number}&textChannel=true")).json() == [
        {"type": "custom"}
    ]
    ann = await served.user("ann")
    assert (await ann.get(f"/commands/types?deviceId={number}")).status == 404


async def test_a_device_that_never_connected_takes_custom_commands_alone(served):
    number = await served.device(served.admin, "1")
    for kind in ("engineStop", "fooBar"):
        answer = await served.admin.post("/commands/send", json={"deviceId": number, "type": kind})
        assert (answer.status, "protocol" in answer.text) == (400, True)
    custom = {"deviceId": number, "type": "custom", "attributes": {"data": "7e"}}
    assert (await served.admin.post("/commands/send", json=custom)).status == 202


async def test_saved_commands_that_fit_are_those_linked_to_user_and_device_or_its_group(served, database):
    group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
    number = await served.device(served.admin, "1", groupId=group)
    insert = "insert into commands (description, type, attributes) values ($1, $1, '{}') returning id"
    kinds = ("custom", "custom", "engineStop", "custom")
    saved = [await database.fetch_value(insert, kind) for kind in kinds]
    for command in saved:
        await served.admin.post("/permissions", json={"userId": served.admin_id, "commandId": command})
    await served.admin.post("/permissions", json={"deviceId": number, "commandId": saved[0]})
    await served.admin.post("/permissions", json={"groupId": group, "commandId": saved[1]})
    await served.admin.post("/permissions", json={"deviceId": number, "commandId": saved[2]})
    fitting = (await served.admin.get(f"/commands/send?deviceId={number}")).json()
    # The device's protocol is unknown, so it understands `custom` alone.
    assert [command["id"] for command in fitting] == saved[:2]
    assert len((await served.admin.get("/commands/send")).json()) == 4


async def waiting(client, device):
    answer = await client.get(f"/commands/queue?deviceId={device}")
    assert answer.status == 200, answer.text
    return answer.json()


async def test_what_waits_for_a_device_is_listed_and_can_be_removed(served, database):
    number = await known_device(served, "1")
    ann = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    for kind in ("engineStop", "engineResume"):
        sent = await ann.post("/commands/send", json={"deviceId": number, "type": kind})
        assert sent.status == 202, sent.text
    first, second = await waiting(served.admin, number)
    assert (first["type"], second["type"]) == ("engineStop", "engineResume")
    assert first == {
        "id": first["id"],
        "deviceId": number,
        "type": "engineStop",
        "textChannel": False,
        "attributes": {},
        "created": first["created"],
        "expires": None,
        "userId": ann.id,
        "scheduledCommandId": 0,
    }
    assert (await served.admin.delete(f"/commands/queue/{first['id']}")).status == 204
    assert await waiting(ann, number) == [second]
    assert (await served.admin.delete(f"/commands/queue/{first['id']}")).status == 404
    row = await database.fetch_row("select * from audit order by id desc limit 1")
    assert (row["action_type"], row["object_type"], row["object_id"]) == (
        "remove",
        "queuedCommand",
        first["id"],
    )
    assert (row["user_id"], row["attributes"]) == (
        served.admin_id,
        {"deviceId": number, "type": "engineStop", "userId": ann.id},
    )
    for path in ("/commands/queue", "/commands/queue?deviceId=x"):
        assert (await served.admin.get(path)).status == 400


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("limitCommands", "the user may only send saved commands"),
        ("readonly", "the user is read-only"),
    ],
)
async def test_restricted_users_remove_only_what_they_queued(served, database, flag, text):
    number = await served.device(served.admin, "1")
    ann = await served.user("ann", **{flag: True})
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    saved = await database.fetch_value("insert into commands (type) values ('custom') returning id")
    await served.admin.post("/permissions", json={"userId": ann.id, "commandId": saved})
    for client in (ann, served.admin):
        assert (await client.post("/commands/send", json={"deviceId": number, "id": saved})).status == 202
    own, other = await waiting(ann, number)
    refused = await ann.delete(f"/commands/queue/{other['id']}")
    assert (refused.status, refused.text) == (400, text)
    assert (await ann.delete(f"/commands/queue/{own['id']}")).status == 204
    assert await waiting(ann, number) == [other]


async def test_a_command_that_was_removed_is_not_delivered(served):
    """The actor of the device has seen it come, and looks at the table when the device connects."""
    number = await served.device(served.admin, "1")
    for text in ("one", "two"):
        body = {"deviceId": number, "type": "custom", "attributes": {"data": text}}
        assert (await served.admin.post("/commands/send", json=body)).status == 202
    first, second = await waiting(served.admin, number)
    assert (await served.admin.delete(f"/commands/queue/{first['id']}")).status == 204
    probe = Probe({Transmit: Transmitted(None)})
    ref = await served.context.system.start(CONNECTION, 1, lambda: probe)
    await served.context.system.ref(DEVICE, number).tell(
        Connected(ref, "jt808", "192.0.2.7", "192.0.2.1", ("1",))
    )
    sent = await probe.receive()
    while not isinstance(sent, Transmit):
        sent = await probe.receive()
    assert sent.command.attributes == second["attributes"]
    # It answers once the queue is drained.
    await served.context.system.ref(DEVICE, number).ask(GetCommandTypes())
    assert await waiting(served.admin, number) == []


TEXT = {"type": "custom", "textChannel": True, "attributes": {"data": "reset {uniqueId}"}}


async def test_a_text_command_goes_to_the_telephone_of_the_device(starting, web_server, database):
    gateway = web_server()
    async with starting(sms=SmsSettings(url=gateway.url)) as served:
        number = await served.device(served.admin, "van 1", phone="+49 30 123")
        answer = await served.admin.post("/commands/send", json={"deviceId": number, **TEXT})
        assert (answer.status, answer.json()["textChannel"]) == (200, True)
        saved = (await served.admin.post("/commands", json={"description": "Reset", **TEXT})).json()["id"]
        answer = await served.admin.post("/commands/send", json={"deviceId": number, "id": saved})
        assert answer.status == 200, answer.text
        await served.admin.post("/permissions", json={"deviceId": number, "commandId": saved})
        fitting = (await served.admin.get(f"/commands/send?deviceId={number}")).json()
        assert [each["id"] for each in fitting] == [saved]
        unreachable = await served.device(served.admin, "van 2")
        answer = await served.admin.post("/commands/send", json={"deviceId": unreachable, **TEXT})
        assert (answer.status, answer.text) == (400, "the device has no telephone number")
    assert [json.loads(asked.body) for asked in gateway.asked] == [
        {"to": "+4930123", "text": "reset van 1"}
    ] * 2
    assert await database.fetch_value("select count(*) from queued_commands") == 0


async def test_a_gateway_that_refuses_a_text_command_is_400_with_the_reason(starting, web_server):
    gateway = web_server(lambda _: (500, b""))
    async with starting(sms=SmsSettings(url=gateway.url)) as served:
        number = await served.device(served.admin, "van 1", phone="+49 30 123")
        answer = await served.admin.post("/commands/send", json={"deviceId": number, **TEXT})
        assert (answer.status, answer.text) == (400, "the SMS gateway answers 500")
    assert len(gateway.asked) == 1


async def test_a_user_sends_only_so_many_text_commands_within_an_hour(starting, web_server):
    gateway = web_server()
    async with starting(sms=SmsSettings(url=gateway.url, per_user=3)) as served:
        group = (await served.admin.post("/groups", json={"name": "G"})).json()["id"]
        for number in "12345":
            await served.device(served.admin, number, groupId=group, phone=f"+49 {number}")
        answer = await served.admin.post(f"/commands/send?groupId={group}", json=TEXT)
        assert answer.status == 200, answer.text
        assert len(gateway.asked) == 3
        answer = await served.admin.post(f"/commands/send?groupId={group}", json=TEXT)
        assert (answer.status, "a user may send 3 text messages an hour" in answer.text) == (400, True)
        assert len(gateway.asked) == 3

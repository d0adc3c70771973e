async def saved(client, **fields):
    made = await client.post("/commands", json={"type": "engineStop", **fields})
    assert made.status == 200, made.text
    return made.json()


async def test_who_is_limited_to_saved_commands_makes_and_changes_none(served):
    ann = await served.user("ann")
    command = await saved(ann)
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**user, "limitCommands": True})
    one = f"/commands/{command['id']}"
    for refused in (
        await ann.post("/commands", json=command),
        await ann.put(one, json=command),
        await ann.delete(one),
    ):
        assert (refused.status, refused.text) == (400, "the user may only send saved commands")
    assert (await ann.get(one)).json() == command
    assert (await ann.get("/commands")).json() == [command]


async def test_a_saved_command_is_sent_to_a_device_with_what_was_saved(served):
    number = await served.device(served.admin, "1")
    command = await saved(served.admin, type="custom", attributes={"data": "0011"}, deviceId=number)
    assert command["deviceId"] == 0
    sent = await served.admin.post(
        "/commands/send", json={"id": command["id"], "deviceId": number, "type": "x"}
    )
    assert sent.status == 202, sent.text
    assert (sent.json()["type"], sent.json()["attributes"]) == ("custom", {"data": "0011"})


async def test_fixed_paths_are_no_commands(served):
    assert {"type": "custom"} in (await served.admin.get("/commands/types")).json()
    assert (await served.admin.get("/commands/send")).json() == []
    assert (await served.admin.get("/commands/other")).status == 404


async def test_deleting_a_saved_command_deletes_the_notifications_that_send_it(served):
    command = await saved(served.admin)
    body = {"type": "alarm", "notificators": "command", "commandId": command["id"]}
    notification = (await served.admin.post("/notifications", json=body)).json()
    assert notification["commandId"] == command["id"]
    assert (await served.admin.delete(f"/commands/{command['id']}")).status == 204
    assert (await served.admin.get(f"/notifications/{notification['id']}")).status == 404


async def test_a_notification_sends_only_commands_that_its_maker_has_access_to(served):
    command = await saved(served.admin)
    ann = await served.user("ann")
    body = {"type": "alarm", "notificators": "command", "commandId": command["id"]}
    refused = await ann.post("/notifications", json=body)
    assert (refused.status, refused.text) == (400, "commandId: no access to it, or no such")
    await served.admin.post("/permissions", json={"userId": ann.id, "commandId": command["id"]})
    assert (await ann.post("/notifications", json=body)).status == 200

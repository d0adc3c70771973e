import base64
from datetime import datetime, timedelta

import msgspec
import pytest
import trio

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import ApplyChanges, EverythingChanged, ScheduleChanged
from motorpool.actors.messages.scheduling import TIMETABLE
from motorpool.storage import plain_tables
from motorpool.storage.upkeep import expired_rows

EVENINGS = (
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260501T180000Z\n"
    b"DTEND:20260501T200000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR"
)
LATER = datetime.fromisoformat("2026-05-01T13:00:00Z")
AGO = datetime.fromisoformat("2026-05-01T11:00:00Z")


async def posted(client, path, body):
    made = await client.post(path, json=body)
    assert made.status == 200, made.text
    return made.json()["id"]


async def calendar(client, text=EVENINGS, **fields):
    body = {"name": "Evenings", "data": base64.b64encode(text).decode(), **fields}
    return await posted(client, "/calendars", body)


async def command(client, kind="custom"):
    return await posted(client, "/commands", {"type": kind, "description": kind})


async def draft(client, **fields):
    """The least that can be created, on a calendar and a command of the client's own."""
    step = {"commandId": await command(client)}
    return {"name": "Lock", "calendarId": await calendar(client), "onStart": [step], **fields}


async def schedule(client, **fields):
    return await posted(client, "/scheduledcommands", await draft(client, **fields))


async def change(client, number, **fields):
    """Save it with some fields changed, as a form does that was filled in before."""
    body = {**(await client.get(f"/scheduledcommands/{number}")).json(), **fields}
    return await client.put(f"/scheduledcommands/{number}", json=body)


async def link(client, method="post", **ids):
    return await getattr(client, method)("/permissions/bulk", json=[ids])


async def run(database, schedule_id, *, device_id=1, time=AGO, status="sent", reason=None, phase="start"):
    """A record as firing leaves it."""
    return await database.fetch_value(
        "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
        " command_id, delay_seconds, followed, time, status, reason)"
        " values ($1, nextval('scheduled_command_firings'), $2, 0, $3, 7, 0, false, $4, $5, $6) returning id",
        schedule_id,
        phase,
        device_id,
        time,
        status,
        reason,
    )


async def queued(database, schedule_id, device_id):
    """A step that waits for its device."""
    run_id = await run(database, schedule_id, device_id=device_id, status="queued")
    await database.execute(
        "insert into queued_commands (device_id, type, attributes, run_id)"
        " values ($1, 'engineStop', '{}', $2)",
        device_id,
        run_id,
    )
    return run_id


async def state(database, run_id):
    row = await database.fetch_row("select status, reason from scheduled_command_runs where id = $1", run_id)
    return tuple(row.values())


async def watched_from(database, number):
    return await database.fetch_value("select watched_from from scheduled_commands where id = $1", number)


# Making


async def test_a_new_one_comes_back_with_every_field_and_knows_no_devices_and_no_run(served):
    body = await draft(served.admin)
    made = (await served.admin.post("/scheduledcommands", json=body)).json()
    assert made == {
        "id": made["id"],
        "name": "Lock",
        "description": None,
        "calendarId": body["calendarId"],
        "active": True,
        "onStart": [{"commandId": body["onStart"][0]["commandId"], "delaySeconds": 0}],
        "onEnd": [],
        "attributes": {},
        "deviceIds": [],
        "groupIds": [],
        "lastRun": None,
        "ownerId": served.admin_id,
    }
    assert (await served.admin.get(f"/scheduledcommands/{made['id']}")).json() == made


async def test_what_is_read_only_may_be_anything_in_a_body_and_changes_nothing(served):
    device = await served.device(served.admin, "1")
    group = await posted(served.admin, "/groups", {"name": "G"})
    for ignored in (
        {"deviceIds": [device], "groupIds": [group], "lastRun": "2026-01-01T00:00:00Z"},
        {"deviceIds": "all", "groupIds": None, "lastRun": {}},
    ):
        made = await served.admin.post("/scheduledcommands", json=await draft(served.admin, **ignored))
        assert made.status == 200, made.text
        assert (made.json()["deviceIds"], made.json()["groupIds"]) == ([], [])
        assert made.json()["lastRun"] is None
        edited = await served.admin.put(
            f"/scheduledcommands/{made.json()['id']}", json={**made.json(), **ignored}
        )
        assert (edited.status, edited.json()) == (200, made.json())


MANY = [{"commandId": 1}] * 51


WRONG = (
    ({"name": None}, "name: needed"),
    ({"name": ""}, "name: needed"),
    ({"name": " \n "}, "name: needed"),
    ({"name": "x" * 129}, "name: longer than 128 characters"),
    ({"name": 5}, "name: expected `str`, got `int`"),
    ({"description": 5}, "description: expected `str | null`, got `int`"),
    ({"description": "x" * 4001}, "description: longer than 4000 characters"),
    ({"calendarId": None}, "calendarId: needed"),
    ({"calendarId": 0}, "calendarId: needed"),
    ({"calendarId": -1}, "calendarId: expected `int` >= 0"),
    ({"calendarId": 999}, "calendarId: no access to it, or no such"),
    ({"calendarId": 2**63}, "calendarId: expected `int` <= 9223372036854775807"),
    ({"onStart": []}, "onStart: at least one step is needed here or in onEnd"),
    ({"onStart": None}, "onStart: at least one step is needed here or in onEnd"),
    ({"onStart": [], "onEnd": []}, "onStart: at least one step is needed here or in onEnd"),
    ({"onStart": MANY}, "onStart: expected `array` of length <= 50"),
    ({"onEnd": MANY}, "onEnd: expected `array` of length <= 50"),
    ({"onStart": [{}]}, "onStart[0]: object missing required field `commandId`"),
    ({"onStart": [{"commandId": None}]}, "onStart[0]: object missing required field `commandId`"),
    ({"onStart": [{"commandId": 0}]}, "onStart[0].commandId: expected `int` >= 1"),
    ({"onStart": [{"commandId": "1"}]}, "onStart[0].commandId: expected `int`, got `str`"),
    ({"onStart": [{"commandId": 999}]}, "onStart[0].commandId: no access to it, or no such"),
    ({"onEnd": [{"commandId": 999}]}, "onEnd[0].commandId: no access to it, or no such"),
    ({"onStart": [7]}, "onStart[0]: expected `object`, got `int`"),
    ({"onStart": {}}, "onStart: expected `array`, got `object`"),
    ({"delay": -1}, "onStart[0].delaySeconds: expected `int` >= 0"),
    ({"delay": 604801}, "onStart[0].delaySeconds: expected `int` <= 604800"),
    ({"delay": 1.5}, "onStart[0].delaySeconds: expected `int`, got `float`"),
    ({"delay": True}, "onStart[0].delaySeconds: expected `int`, got `bool`"),
    ({"active": "yes"}, "active: expected `bool`, got `str`"),
    ({"queue": -1}, "attributes.queueMaxMinutes: not a whole number from 0 to 43200"),
    ({"queue": 43201}, "attributes.queueMaxMinutes: not a whole number from 0 to 43200"),
    ({"queue": 1.5}, "attributes.queueMaxMinutes: not a whole number from 0 to 43200"),
    ({"queue": True}, "attributes.queueMaxMinutes: not a whole number from 0 to 43200"),
    ({"queue": "5"}, "attributes.queueMaxMinutes: not a whole number from 0 to 43200"),
)


async def test_what_is_wrong_is_refused_with_one_line_when_it_is_made_and_when_it_is_changed(
    served, database
):
    body = await draft(served.admin)
    number = await posted(served.admin, "/scheduledcommands", body)
    for changed, why in WRONG:
        fields = dict(changed)
        if "queue" in fields:
            fields = {"attributes": {"queueMaxMinutes": fields["queue"]}}
        if "delay" in fields:
            fields = {"onStart": [{**body["onStart"][0], "delaySeconds": fields["delay"]}]}
        for method, path in (("POST", ""), ("PUT", f"/{number}")):
            refused = await served.admin.call(
                method, f"/api/scheduledcommands{path}", json={**body, **fields}
            )
            assert (refused.status, refused.text) == (400, why), (method, changed)
    assert await database.fetch_value("select array_agg(name) from scheduled_commands") == ["Lock"]


async def test_the_bounds_themselves_and_null_for_a_default_are_taken(served):
    body = await draft(served.admin, name=" " + "x" * 126 + " ", description="y" * 4000)
    step = body["onStart"][0]
    steps = [{**step, "delaySeconds": delay} for delay in (604800, None, 0)]
    for minutes in (0, 43200, None):
        attributes = {"queueMaxMinutes": minutes, "color": [1]}
        sent = {**body, "onStart": steps, "onEnd": [step] * 50, "attributes": attributes, "active": None}
        made = await served.admin.post("/scheduledcommands", json=sent)
        assert made.status == 200, made.text
        assert made.json()["name"] == "x" * 126
        assert [each["delaySeconds"] for each in made.json()["onStart"]] == [604800, 0, 0]
        assert len(made.json()["onEnd"]) == 50
        assert made.json()["attributes"] == attributes
        assert made.json()["active"] is True
    assert (await schedule(served.admin, onStart=[], onEnd=[step])) > 0


async def test_calendar_and_commands_must_be_accessible_to_who_makes_it(served):
    ann = await served.user("ann")
    theirs, hers = await draft(served.admin), await draft(ann)
    refused = await ann.post("/scheduledcommands", json={**hers, "calendarId": theirs["calendarId"]})
    assert (refused.status, refused.text) == (400, "calendarId: no access to it, or no such")
    for name in ("onStart", "onEnd"):
        steps = [*hers["onStart"], *theirs["onStart"]]
        refused = await ann.post("/scheduledcommands", json={**hers, name: steps})
        assert (refused.status, refused.text) == (400, f"{name}[1].commandId: no access to it, or no such")
    assert (await ann.post("/scheduledcommands", json=hers)).status == 200


async def test_a_second_editor_keeps_what_he_has_no_access_to_and_adds_only_what_he_has(served):
    ann = await served.user("ann")
    number = await schedule(served.admin)
    await link(served.admin, userId=ann.id, scheduledCommandId=number)
    kept = (await ann.get(f"/scheduledcommands/{number}")).json()
    theirs, hers = await draft(served.admin), await draft(ann)
    for fields, status in (
        ({"name": "New"}, 200),
        ({"onStart": [], "onEnd": kept["onStart"] * 2}, 200),
        ({"onEnd": [*kept["onStart"], *hers["onStart"]]}, 200),
        ({"onEnd": theirs["onStart"]}, 400),
        ({"calendarId": theirs["calendarId"]}, 400),
        ({"calendarId": hers["calendarId"]}, 200),
        # Once given up it is not hers to take back.
        ({"calendarId": kept["calendarId"]}, 400),
    ):
        assert (await change(ann, number, **fields)).status == status, fields


@pytest.mark.parametrize("flag", ["readonly", "limitCommands"])
async def test_the_restricted_make_change_and_delete_none_but_read_them(served, database, flag):
    ann = await served.user("ann", **{flag: True})
    number = await schedule(served.admin)
    await link(served.admin, userId=ann.id, scheduledCommandId=number)
    body = await draft(served.admin)
    for kind, key in (("calendar", "calendarId"), ("command", "commandId")):
        own = body["calendarId"] if kind == "calendar" else body["onStart"][0]["commandId"]
        await link(served.admin, userId=ann.id, **{key: own})
    assert (await ann.post("/scheduledcommands", json=body)).status == 400
    assert (await change(ann, number, name="New")).status == 400
    assert (await ann.delete(f"/scheduledcommands/{number}")).status == 400
    assert (await ann.get(f"/scheduledcommands/{number}")).json()["name"] == "Lock"
    assert (await ann.get(f"/scheduledcommands/{number}/runs")).status == 200
    assert await database.fetch_value("select count(*) from scheduled_commands") == 1


# Who sees what


async def test_an_unknown_one_is_404_and_one_without_access_400_but_for_its_removal(served):
    ann = await served.user("ann")
    number = await schedule(served.admin)
    body = await draft(ann)
    for method, path, sent in (
        ("GET", "", None),
        ("PUT", "", body),
        ("GET", "/runs", None),
        ("POST", "/run", {}),
    ):
        more = {"json": sent} if sent is not None else {}
        hidden = await ann.call(method, f"/api/scheduledcommands/{number}{path}", **more)
        assert (hidden.status, hidden.text) == (400, "no access to the scheduled command"), (method, path)
        for client in (ann, served.admin):
            unknown = await client.call(method, f"/api/scheduledcommands/{number + 1}{path}", **more)
            assert (unknown.status, unknown.text) == (404, "no such scheduled command"), (method, path)
        anonymous = await served.client().call(method, f"/api/scheduledcommands/{number}{path}", **more)
        assert anonymous.status == 401, (method, path)
    for unseen in (number, number + 1):
        assert (await ann.delete(f"/scheduledcommands/{unseen}")).status == 400
    assert (await served.admin.delete(f"/scheduledcommands/{number + 1}")).status == 404
    assert (await served.client().delete(f"/scheduledcommands/{number}")).status == 401
    assert (await served.client().get("/scheduledcommands")).status == 401
    assert (await served.client().post("/scheduledcommands", json=body)).status == 401
    assert (await served.admin.get(f"/scheduledcommands/{number}")).status == 200


async def test_lists_hold_ones_own_by_name_and_more_only_for_managers_and_administrators(served):
    ann = await served.user("ann")
    boss = await served.user("boss", userLimit=-1)
    await link(served.admin, userId=boss.id, managedUserId=ann.id)
    hers = {name: await schedule(ann, name=name) for name in ("beta", "Alpha", "gamma")}
    his = await schedule(boss, name="Delta")
    admins = await schedule(served.admin, name="zeta")

    async def names(client, query=""):
        answer = await client.get(f"/scheduledcommands{query}")
        return [each["name"] for each in answer.json()] if answer.status == 200 else answer.status

    assert await names(ann) == ["Alpha", "beta", "gamma"]
    assert await names(ann, "?all=true") == ["Alpha", "beta", "gamma"]
    assert await names(ann, f"?userId={ann.id}") == ["Alpha", "beta", "gamma"]
    assert await names(ann, f"?userId={boss.id}") == 400
    assert await names(boss) == ["Delta"]
    assert await names(boss, "?all=true") == ["Alpha", "beta", "Delta", "gamma"]
    assert await names(boss, f"?userId={ann.id}") == ["Alpha", "beta", "gamma"]
    assert await names(served.admin) == ["zeta"]
    assert await names(served.admin, "?all=true") == ["Alpha", "beta", "Delta", "gamma", "zeta"]
    assert await names(served.admin, f"?userId={boss.id}") == ["Delta"]
    assert await names(ann, "?keyword=ET") == ["beta"]
    assert await names(ann, "?limit=1&offset=1") == ["beta"]
    # Each as it is shown alone.
    (shown,) = (await boss.get("/scheduledcommands")).json()
    assert shown == (await boss.get(f"/scheduledcommands/{his}")).json()
    assert {*hers.values(), his, admins} == {
        each["id"] for each in (await served.admin.get("/scheduledcommands?all=true")).json()
    }


async def test_devices_and_groups_are_linked_afterwards_owner_first_and_unlinked_again(served):
    ann = await served.user("ann", deviceLimit=-1)
    number = await schedule(ann)
    first, second = [await served.device(ann, unique) for unique in "12"]
    group = await posted(ann, "/groups", {"name": "G"})
    theirs = await served.device(served.admin, "3")
    links = [{"deviceId": device, "scheduledCommandId": number} for device in (second, first)]
    assert (await ann.post("/permissions/bulk", json=links)).status == 204
    assert (await link(ann, groupId=group, scheduledCommandId=number)).status == 204
    for shown in (
        (await ann.get(f"/scheduledcommands/{number}")).json(),
        (await ann.get("/scheduledcommands")).json()[0],
        (await change(ann, number, name="New")).json(),
    ):
        assert (shown["deviceIds"], shown["groupIds"]) == ([first, second], [group])
    mixed = [links[0], {"groupId": group, "scheduledCommandId": number}]
    assert (await ann.post("/permissions/bulk", json=mixed)).status == 400
    backwards = {"scheduledCommandId": number, "deviceId": first}
    assert (await ann.post("/permissions/bulk", json=[backwards])).status == 400
    assert (await link(ann, deviceId=theirs, scheduledCommandId=number)).status == 400
    foreign = await schedule(served.admin)
    assert (await link(ann, deviceId=first, scheduledCommandId=foreign)).status == 400
    assert (await ann.delete("/permissions/bulk", json=links[:1])).status == 204
    assert (await link(ann, "delete", groupId=group, scheduledCommandId=number)).status == 204
    shown = (await ann.get(f"/scheduledcommands/{number}")).json()
    assert (shown["deviceIds"], shown["groupIds"]) == ([first], [])
    found = await served.admin.get(f"/permissions?deviceId=0&scheduledCommandId={number}")
    assert found.json() == [links[1]]


async def test_a_link_to_a_user_is_what_access_is(served):
    ann = await served.user("ann")
    number = await schedule(served.admin)
    assert (await link(served.admin, userId=ann.id, scheduledCommandId=number)).status == 204
    assert (await ann.get(f"/scheduledcommands/{number}")).status == 200
    assert (await link(served.admin, "delete", userId=ann.id, scheduledCommandId=number)).status == 204
    assert (await ann.get(f"/scheduledcommands/{number}")).status == 400


# Changing


async def test_a_change_replaces_all_that_can_be_edited(served):
    number = await schedule(served.admin, description="x", active=False, attributes={"queueMaxMinutes": 5})
    other = await draft(served.admin)
    answer = await served.admin.put(
        f"/scheduledcommands/{number}",
        json={"name": "New", "calendarId": other["calendarId"], "onEnd": other["onStart"]},
    )
    assert answer.status == 200, answer.text
    assert answer.json() == {
        "id": number,
        "name": "New",
        "description": None,
        "calendarId": other["calendarId"],
        "active": True,
        "onStart": [],
        "onEnd": [{**other["onStart"][0], "delaySeconds": 0}],
        "attributes": {},
        "deviceIds": [],
        "groupIds": [],
        "lastRun": None,
        "ownerId": served.admin_id,
    }
    assert (await served.admin.get(f"/scheduledcommands/{number}")).json() == answer.json()
    assert (await change(served.admin, number, id=number + 1)).status == 400


async def test_a_new_one_watches_its_calendar_from_now_on_and_is_its_makers(served, database):
    ann = await served.user("ann")
    before = served.clock.now()
    number = await schedule(ann)
    row = await database.fetch_row("select owner_id, watched_from from scheduled_commands")
    assert row["owner_id"] == ann.id
    assert before <= row["watched_from"] <= served.clock.now()
    await change(served.admin, number, name="New")
    assert await database.fetch_value("select owner_id from scheduled_commands") == ann.id


async def test_who_saves_one_whose_owner_is_gone_becomes_its_owner(served, database):
    ann, bob = await served.user("ann"), await served.user("bob")
    number = await schedule(ann)
    await link(served.admin, userId=bob.id, scheduledCommandId=number)
    assert (await served.admin.delete(f"/users/{ann.id}")).status == 204
    assert await database.fetch_value("select owner_id from scheduled_commands") is None
    assert (await change(bob, number)).status == 200
    assert await database.fetch_value("select owner_id from scheduled_commands") == bob.id


async def test_only_what_begins_to_be_watched_anew_forgets_windows_that_opened_before(served, database):
    number = await schedule(served.admin)
    other = await calendar(served.admin)

    async def moved(**fields):
        """Whether that change begins the watching anew."""
        before = await watched_from(database, number)
        answer = await change(served.admin, number, **fields)
        assert answer.status == 200, answer.text
        return await watched_from(database, number) > before

    assert not await moved(name="New")
    assert not await moved(active=False)
    assert await moved(active=True)
    assert not await moved(active=True)
    assert await moved(calendarId=other)
    assert not await moved(calendarId=other)
    assert not await moved(active=False)
    # The flag is nobody's affair but its own.
    assert await moved(calendarId=(await draft(served.admin))["calendarId"])
    assert (await served.admin.get(f"/scheduledcommands/{number}")).json()["active"] is False


async def test_deactivating_cancels_what_is_pending_and_queued_and_nothing_else_does(served, database):
    device = await served.device(served.admin, "1")
    number, beside = await schedule(served.admin), await schedule(served.admin)
    pending = await run(database, number, time=LATER, status="pending")
    waiting = await queued(database, number, device)
    others = await queued(database, beside, device)
    sent = await run(database, number)
    assert (await change(served.admin, number, name="New")).status == 200
    assert await state(database, pending) == ("pending", None)
    assert (await change(served.admin, number, active=False)).status == 200
    assert await state(database, pending) == ("skipped", "schedule_inactive")
    assert await state(database, waiting) == ("skipped", "schedule_inactive")
    assert await state(database, others) == ("queued", None)
    assert await state(database, sent) == ("sent", None)
    assert await database.fetch_value("select array_agg(run_id) from queued_commands") == [others]


async def test_another_calendar_cancels_nothing(served, database):
    number = await schedule(served.admin)
    pending = await run(database, number, time=LATER, status="pending")
    assert (await change(served.admin, number, calendarId=await calendar(served.admin))).status == 200
    assert await state(database, pending) == ("pending", None)


async def test_a_removed_one_sends_nothing_more_and_keeps_a_history_that_nobody_lists(served, database):
    device = await served.device(served.admin, "1")
    number = await schedule(served.admin)
    pending = await run(database, number, time=LATER, status="pending")
    waiting = await queued(database, number, device)
    sent = await run(database, number)
    assert (await served.admin.delete(f"/scheduledcommands/{number}")).status == 204
    assert await state(database, pending) == ("skipped", "schedule_inactive")
    assert await state(database, waiting) == ("skipped", "schedule_inactive")
    assert await state(database, sent) == ("sent", None)
    assert await database.fetch_value("select count(*) from queued_commands") == 0
    assert (await served.admin.get(f"/scheduledcommands/{number}")).status == 404
    assert (await served.admin.get(f"/scheduledcommands/{number}/runs")).status == 404
    assert (await served.admin.post(f"/scheduledcommands/{number}/run")).status == 404


async def test_a_refused_change_cancels_nothing_and_watches_on(served, database):
    ann = await served.user("ann")
    number = await schedule(served.admin)
    await link(served.admin, userId=ann.id, scheduledCommandId=number)
    before = await watched_from(database, number)
    pending = await run(database, number, time=LATER, status="pending")
    theirs = await calendar(served.admin)
    assert (await change(ann, number, active=False, calendarId=theirs)).status == 400
    assert await state(database, pending) == ("pending", None)
    assert await watched_from(database, number) == before


# Its calendar


async def test_a_calendar_that_one_uses_stays(served):
    body = await draft(served.admin)
    number = await posted(served.admin, "/scheduledcommands", {**body, "active": False})
    refused = await served.admin.delete(f"/calendars/{body['calendarId']}")
    assert (refused.status, refused.text) == (400, "a scheduled command uses the calendar")
    assert (await served.admin.get(f"/calendars/{body['calendarId']}")).status == 200
    assert (await served.admin.delete(f"/scheduledcommands/{number}")).status == 204
    assert (await served.admin.delete(f"/calendars/{body['calendarId']}")).status == 204


async def test_a_calendar_whose_windows_change_is_watched_from_scratch_by_all_that_use_it(served, database):
    body = await draft(served.admin)
    number = await posted(served.admin, "/scheduledcommands", body)
    beside = await schedule(served.admin)
    path = f"/calendars/{body['calendarId']}"
    earlier = base64.b64encode(EVENINGS.replace(b"T18", b"T17")).decode()
    before = await watched_from(database, beside)
    for fields, anew in (
        ({"name": "New"}, False),
        ({"attributes": {"color": "red"}}, False),
        ({"data": earlier}, True),
        ({"data": earlier}, False),
        ({"attributes": {"timezone": "Europe/Berlin"}}, True),
        ({"attributes": {"timezone": "Europe/Berlin", "color": "red"}}, False),
        ({"attributes": {}}, True),
    ):
        since = await watched_from(database, number)
        saved = await served.admin.put(path, json={**(await served.admin.get(path)).json(), **fields})
        assert saved.status == 200, saved.text
        assert (await watched_from(database, number) > since) is anew, fields
    assert await watched_from(database, beside) == before


async def test_another_time_zone_of_the_server_is_another_window_for_all(served, database):
    numbers = [await schedule(served.admin), await schedule(served.admin)]
    settings = (await served.admin.get("/server")).json()
    for attributes, anew in (
        ({"color": "red"}, False),
        ({"timezone": "Europe/Berlin"}, True),
        ({"timezone": "Europe/Berlin", "color": "red"}, False),
        ({}, True),
    ):
        since = [await watched_from(database, number) for number in numbers]
        saved = await served.admin.put("/server", json={**settings, "attributes": attributes})
        assert saved.status == 200, saved.text
        for number, before in zip(numbers, since, strict=True):
            assert (await watched_from(database, number) > before) is anew, attributes


# Its runs


async def test_the_history_is_one_entry_for_each_device_and_step_newest_first(served, database):
    number = await schedule(served.admin)
    await run(database, await schedule(served.admin))
    for status in ("pending", "sending"):
        await run(database, number, time=LATER, status=status)
    old = await run(database, number, time=AGO, device_id=3)
    skipped = await run(database, number, time=AGO, device_id=4, status="skipped", reason="offline")
    late = await run(database, number, time=AGO + timedelta(minutes=1), status="queued", phase="end")
    answer = await served.admin.get(f"/scheduledcommands/{number}/runs")
    assert answer.status == 200
    assert answer.json() == [
        {
            "id": late,
            "scheduledCommandId": number,
            "phase": "end",
            "deviceId": 1,
            "commandId": 7,
            "time": "2026-05-01T11:01:00Z",
            "status": "queued",
            "reason": None,
            "detail": None,
        },
        {
            "id": skipped,
            "scheduledCommandId": number,
            "phase": "start",
            "deviceId": 4,
            "commandId": 7,
            "time": "2026-05-01T11:00:00Z",
            "status": "skipped",
            "reason": "offline",
            "detail": None,
        },
        {
            "id": old,
            "scheduledCommandId": number,
            "phase": "start",
            "deviceId": 3,
            "commandId": 7,
            "time": "2026-05-01T11:00:00Z",
            "status": "sent",
            "reason": None,
            "detail": None,
        },
    ]


async def test_the_history_is_filtered_by_span_with_both_ends_and_by_device(served, database):
    number = await schedule(served.admin)
    made = [
        await run(database, number, device_id=1 + index % 2, time=AGO + timedelta(minutes=index))
        for index in range(4)
    ]
    for query, wanted in (
        ("", [3, 2, 1, 0]),
        ("?from=2026-05-01T11:01:00Z", [3, 2, 1]),
        ("?to=2026-05-01T11:02:00Z", [2, 1, 0]),
        ("?from=2026-05-01T11:01:00Z&to=2026-05-01T11:02:00Z", [2, 1]),
        ("?from=2026-05-01T11:02:00.001Z&to=2026-05-01T11:02:59Z", []),
        ("?deviceId=2", [3, 1]),
        ("?deviceId=2&to=2026-05-01T11:02:00Z", [1]),
        ("?deviceId=9", []),
        ("?limit=1", [3]),
        ("?deviceId=1&limit=1", [2]),
    ):
        answer = await served.admin.get(f"/scheduledcommands/{number}/runs{query}")
        assert [made.index(each["id"]) for each in answer.json()] == wanted, query


async def test_the_history_is_cut_at_200_or_what_is_asked_for_up_to_1000(served, database):
    number = await schedule(served.admin)
    await database.execute(
        "insert into scheduled_command_runs (scheduled_command_id, firing, phase, step, device_id,"
        " command_id, delay_seconds, followed, time, status)"
        " select $1, n, 'start', 0, n, 7, 0, false, $2, 'sent' from generate_series(1, 1001) n",
        number,
        AGO,
    )
    for query, length in (
        ("", 200),
        ("?limit=200", 200),
        ("?limit=1", 1),
        ("?limit=1000", 1000),
        ("?limit=0", 1000),
    ):
        answer = await served.admin.get(f"/scheduledcommands/{number}/runs{query}")
        assert len(answer.json()) == length, query
        assert answer.json()[0]["deviceId"] == 1001
    for query in ("limit=1001", "limit=-1", "limit=x", "from=2026-05-01", "to=x", "deviceId=x"):
        refused = await served.admin.get(f"/scheduledcommands/{number}/runs?{query}")
        assert refused.status == 400, query
        assert refused.text.startswith(query.partition("=")[0]), refused.text


async def test_a_device_that_is_deleted_ends_what_waited_for_it(served, database):
    gone, left = [await served.device(served.admin, unique) for unique in "12"]
    number = await schedule(served.admin)
    first, second = await queued(database, number, gone), await queued(database, number, left)
    await link(served.admin, deviceId=gone, scheduledCommandId=number)
    assert (await served.admin.delete(f"/devices/{gone}")).status == 204
    assert await state(database, first) == ("skipped", "device_not_found")
    assert await state(database, second) == ("queued", None)
    assert (await served.admin.get(f"/scheduledcommands/{number}")).json()["deviceIds"] == []
    listed = (await served.admin.get(f"/scheduledcommands/{number}/runs?deviceId={gone}")).json()
    assert [each["reason"] for each in listed] == ["device_not_found"]


# Running it by hand


async def started(client, number, **sent):
    answer = await client.post(f"/scheduledcommands/{number}/run", **sent)
    assert answer.status == 200, answer.text
    return answer.json()


async def test_to_run_it_takes_a_phase_or_no_body_at_all(served):
    device = await served.device(served.admin, "1")
    body = await draft(served.admin)
    first, last = body["onStart"][0]["commandId"], await command(served.admin)
    number = await posted(served.admin, "/scheduledcommands", {**body, "onEnd": [{"commandId": last}]})
    await link(served.admin, deviceId=device, scheduledCommandId=number)
    for sent, wanted in (
        ({}, first),
        ({"data": " "}, first),
        ({"json": {}}, first),
        ({"json": {"phase": None}}, first),
        ({"json": {"phase": "start"}}, first),
        ({"json": {"phase": "end", "unknown": 1}}, last),
    ):
        (made,) = await started(served.admin, number, **sent)
        assert (made["commandId"], made["phase"]) == (wanted, "manual"), sent
    for wrong in ("null", "[]", "{", '{"phase": "manual"}', '{"phase": ""}', '{"phase": 1}', '"end"'):
        headers = {"Content-Type": "application/json"}
        refused = await served.admin.post(f"/scheduledcommands/{number}/run", data=wrong, headers=headers)
        assert refused.status == 400, wrong
        assert "\n" not in refused.text
    assert len((await served.admin.get(f"/scheduledcommands/{number}/runs")).json()) == 6


async def test_a_run_answers_what_came_of_each_step_for_each_device_and_what_is_to_come(served, database):
    group = await posted(served.admin, "/groups", {"name": "G"})
    direct, inside = (
        await served.device(served.admin, "1"),
        await served.device(served.admin, "2", groupId=group),
    )
    body = await draft(served.admin)
    step = body["onStart"][0]
    steps = [{**step, "delaySeconds": 30}, {**step, "delaySeconds": 60}]
    number = await posted(served.admin, "/scheduledcommands", {**body, "onStart": steps})
    assert await started(served.admin, number) == []
    await link(served.admin, deviceId=direct, scheduledCommandId=number)
    await link(served.admin, groupId=group, scheduledCommandId=number)
    made = await started(served.admin, number)
    assert sorted((each["deviceId"], each["status"], each["reason"]) for each in made) == [
        (direct, "pending", None),
        (direct, "skipped", "offline"),
        (inside, "pending", None),
        (inside, "skipped", "offline"),
    ]
    assert all(each["scheduledCommandId"] == number for each in made)
    assert {each["commandId"] for each in made} == {step["commandId"]}
    assert {each["phase"] for each in made} == {"manual"}
    at = {each["status"]: datetime.fromisoformat(each["time"]) for each in made}
    # The first step's own delay is of no account.
    assert at["skipped"] <= served.clock.now() < at["pending"]
    listed = (await served.admin.get(f"/scheduledcommands/{number}/runs")).json()
    assert sorted(each["id"] for each in listed) == sorted(
        each["id"] for each in made if each["status"] == "skipped"
    )
    last_run = (await served.admin.get(f"/scheduledcommands/{number}")).json()["lastRun"]
    assert datetime.fromisoformat(last_run) <= served.clock.now()
    row = await database.fetch_row("select * from audit where action_type = 'run' order by id desc limit 1")
    assert (row["user_id"], row["object_type"], row["object_id"]) == (
        served.admin_id,
        "scheduledCommand",
        number,
    )
    assert row["attributes"] == {"phase": "start"}


async def test_an_inactive_one_can_be_run_and_a_device_that_is_offline_gets_it_later(served, database):
    device = await served.device(served.admin, "1")
    number = await schedule(served.admin, active=False, attributes={"queueMaxMinutes": 5})
    await link(served.admin, deviceId=device, scheduledCommandId=number)
    (made,) = await started(served.admin, number)
    assert (made["status"], made["reason"]) == ("queued", None)
    row = await database.fetch_row("select run_id, expires, type from queued_commands")
    assert (row["run_id"], row["type"]) == (made["id"], "custom")
    waits = row["expires"] - datetime.fromisoformat(made["time"])
    # Times are shown in milliseconds.
    assert timedelta(minutes=5) <= waits < timedelta(minutes=5, milliseconds=1)


@pytest.mark.parametrize(
    ("fields", "linked", "reason"),
    [
        ({}, (), "no_permission"),
        ({}, ("device",), "offline"),
        ({"readonly": True}, ("device",), "offline"),
        ({"limitCommands": True}, ("device",), "no_permission"),
        ({"limitCommands": True}, ("command",), "no_permission"),
        ({"limitCommands": True}, ("device", "command"), "offline"),
        ({"administrator": True}, (), "offline"),
    ],
)
async def test_a_run_by_hand_sends_what_its_caller_may_send(served, fields, linked, reason):
    ann = await served.user("ann", **fields)
    device = await served.device(served.admin, "1")
    number = await schedule(served.admin)
    (step,) = (await served.admin.get(f"/scheduledcommands/{number}")).json()["onStart"]
    await link(served.admin, deviceId=device, scheduledCommandId=number)
    if not fields.get("administrator"):
        assert (await ann.post(f"/scheduledcommands/{number}/run")).status == 400
    await link(served.admin, userId=ann.id, scheduledCommandId=number)
    if "device" in linked:
        await link(served.admin, userId=ann.id, deviceId=device)
    if "command" in linked:
        await link(served.admin, userId=ann.id, commandId=step["commandId"])
    (made,) = await started(ann, number)
    assert made["reason"] == reason


@pytest.mark.parametrize(("forced", "reason"), [(False, "offline"), (True, "no_permission")])
async def test_a_limit_of_the_server_holds_for_runs_by_hand_while_it_is_forced(served, forced, reason):
    ann = await served.user("ann")
    device = await served.device(served.admin, "1")
    number = await schedule(served.admin)
    await link(served.admin, deviceId=device, scheduledCommandId=number)
    await link(served.admin, userId=ann.id, scheduledCommandId=number)
    await link(served.admin, userId=ann.id, deviceId=device)
    settings = (await served.admin.get("/server")).json()
    limits = {"limitCommands": True, "forceSettings": forced}
    assert (await served.admin.put("/server", json={**settings, **limits})).status == 200
    (made,) = await started(ann, number)
    assert made["reason"] == reason


# Who watches the calendars hears of it before the change is answered


HALF_PAST = datetime.fromisoformat("2026-05-01T12:30:00Z")
OPENS_HALF_PAST = EVENINGS.replace(b"T180000Z", b"T123000Z").replace(b"T200000Z", b"T124500Z")


async def idle(served, **fields):
    """One with a device, whose calendar has nothing at half past twelve; and that calendar."""
    device = await served.device(served.admin, "1")
    body = await draft(served.admin, **{"attributes": {"queueMaxMinutes": 5}, **fields})
    number = await posted(served.admin, "/scheduledcommands", body)
    await link(served.admin, deviceId=device, scheduledCommandId=number)
    return number, body["calendarId"]


async def runs_at_half_past(served, number):
    """What it does then; waits for it."""
    timetable = served.context.system.ref(TIMETABLE)
    served.clock.set_wall(HALF_PAST)
    # The wall was put forward alone: a timer does not notice, but who is woken looks at it.
    await timetable.ask(ApplyChanges((ScheduleChanged(0, "updated"),)))
    with trio.fail_after(120):
        listed = []
        while not listed:
            listed = (await served.admin.get(f"/scheduledcommands/{number}/runs")).json()
    assert [(each["phase"], each["status"]) for each in listed] == [("start", "queued")]
    assert datetime.fromisoformat(listed[0]["time"]) >= HALF_PAST


async def test_a_new_one_runs_with_its_calendar(served):
    number, _ = await idle(served, calendarId=await calendar(served.admin, OPENS_HALF_PAST))
    await runs_at_half_past(served, number)


async def test_an_activated_one_runs_with_its_calendar(served):
    on = await calendar(served.admin, OPENS_HALF_PAST)
    number, _ = await idle(served, calendarId=on, active=False)
    assert (await change(served.admin, number, active=True)).status == 200
    await runs_at_half_past(served, number)


async def test_with_another_calendar_it_runs_when_that_one_says(served):
    number, _ = await idle(served)
    on = await calendar(served.admin, OPENS_HALF_PAST)
    assert (await change(served.admin, number, calendarId=on)).status == 200
    await runs_at_half_past(served, number)


async def test_a_calendar_that_is_edited_is_followed_as_it_is_now(served):
    number, on = await idle(served)
    data = base64.b64encode(OPENS_HALF_PAST).decode()
    saved = await served.admin.put(f"/calendars/{on}", json={"name": "Noon", "data": data})
    assert saved.status == 200, saved.text
    await runs_at_half_past(served, number)


async def test_a_calendar_in_another_time_zone_is_followed_as_it_is_now(served):
    floating = OPENS_HALF_PAST.replace(b"T123000Z", b"T143000").replace(b"T124500Z", b"T144500")
    on = await calendar(served.admin, floating)
    number, _ = await idle(served, calendarId=on)
    stored = (await served.admin.get(f"/calendars/{on}")).json()
    body = {**stored, "attributes": {"timezone": "Europe/Berlin"}}
    assert (await served.admin.put(f"/calendars/{on}", json=body)).status == 200
    await runs_at_half_past(served, number)


async def test_the_time_zone_of_the_server_is_that_of_calendars_without_one(served):
    floating = OPENS_HALF_PAST.replace(b"T123000Z", b"T143000").replace(b"T124500Z", b"T144500")
    number, _ = await idle(served, calendarId=await calendar(served.admin, floating))
    settings = (await served.admin.get("/server")).json()
    body = {**settings, "attributes": {"timezone": "Europe/Berlin"}}
    assert (await served.admin.put("/server", json=body)).status == 200
    await runs_at_half_past(served, number)


async def test_where_nobody_knows_what_was_committed_every_calendar_is_read_again(served, database):
    number, on = await idle(served)
    stored = await plain_tables.CALENDARS.fetch(database, on)
    data = base64.b64encode(OPENS_HALF_PAST).decode()
    await plain_tables.CALENDARS.update(database, msgspec.structs.replace(stored, data=data))
    await publish_changes(served.context.system, EverythingChanged())
    await runs_at_half_past(served, number)


async def test_it_shows_its_owner_and_says_when_they_are_gone(served, database):
    ann = await served.user("ann", deviceLimit=-1)
    number = await schedule(ann, name="Lock at night")
    van = await served.device(ann, "1")
    await link(ann, deviceId=van, scheduledCommandId=number)
    await served.admin.post("/permissions", json={"userId": served.admin_id, "scheduledCommandId": number})
    assert (await served.admin.get(f"/scheduledcommands/{number}")).json()["ownerId"] == ann.id
    # Read-only: what a client sends back changes nothing.
    assert (await change(ann, number, ownerId=served.admin_id)).json()["ownerId"] == ann.id
    assert (await served.admin.delete(f"/users/{ann.id}")).status == 204
    assert (await served.admin.get(f"/scheduledcommands/{number}")).json()["ownerId"] == 0
    row = await database.fetch_row("select * from audit where action_type = 'ownerDeleted'")
    assert (row["user_id"], row["object_type"], row["object_id"]) == (
        served.admin_id,
        "scheduledCommand",
        number,
    )
    assert row["attributes"] == {"ownerId": ann.id, "name": "Lock at night"}
    # Run by hand it needs no owner.
    (ran,) = (await served.admin.post(f"/scheduledcommands/{number}/run")).json()
    assert (ran["reason"], ran["detail"]) == ("offline", None)
    # Whoever saves it owns it.
    assert (await change(served.admin, number)).json()["ownerId"] == served.admin_id


async def test_a_temporary_owner_who_expires_leaves_it_without_one(served, database):
    ann = await served.user("ann", deviceLimit=-1)
    number = await schedule(ann)
    await database.execute(
        "update users set temporary = true, expiration_time = $2 where id = $1", ann.id, AGO
    )
    assert await expired_rows.delete_temporary_users(database, LATER) == [ann.id]
    assert await database.fetch_value("select owner_id from scheduled_commands where id = $1", number) is None
    row = await database.fetch_row("select * from audit where action_type = 'ownerDeleted'")
    assert (row["user_id"], row["object_id"], row["attributes"]["ownerId"]) == (0, number, ann.id)

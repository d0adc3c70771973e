"""What exceeds a quota is refused where it is stored or linked, by parallel requests too."""

import base64
import logging
from functools import partial

import pytest
import trio
from tests.api.test_races import in_parallel

from motorpool.api.program.exceeded_quotas import log_exceeded_quotas
from motorpool.api.settings import QuotaSettings
from motorpool.storage.accounts import quotas

TRIANGLE = "POLYGON ((1 1, 1 2, 2 2))"
SQUARE = "POLYGON ((1 1, 1 2, 2 2, 2 1))"
DAILY = b"""BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTART:20260501T180000Z
DTEND:20260501T200000Z
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR"""

WAITING = """
    select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
"""


async def made(client, path, **fields):
    answer = await client.post(path, json=fields)
    assert answer.status == 200, answer.text
    return answer.json()["id"]


async def geofence(client, area=TRIANGLE):
    return await made(client, "/geofences", name="x", area=area)


async def link(client, **ids):
    answer = await client.post("/permissions", json=ids)
    return answer.status, answer.text


LINKED = (204, "")


def refused(text, quota):
    return (400, f"{text} (quotas.{quota})")


@pytest.fixture
async def limited(starting):
    """A server on which nobody may have much."""
    quotas = QuotaSettings(
        user_records=3,
        user_geofence_points=10,
        user_tasks=2,
        server_records=5,
        server_geofence_points=16,
        server_tasks=3,
        device_geofences=2,
        device_geofence_points=7,
        device_computed_attributes=2,
        device_expression_characters=8,
        device_maintenances=2,
        device_notifications=2,
        device_scheduled_steps=3,
        device_linked_devices=2,
    )
    async with starting(quotas=quotas) as served:
        yield served


@pytest.mark.parametrize(
    ("path", "body", "words", "kept", "quota"),
    [
        ("/geofences", {"name": "x", "area": TRIANGLE}, "geofences", 3, "user_records"),
        ("/maintenance", {"name": "x", "type": "hours"}, "maintenances", 3, "user_records"),
        ("/groups", {"name": "x"}, "groups", 3, "user_records"),
        ("/orders", {"uniqueId": "x", "description": "x"}, "orders", 3, "user_records"),
        ("/commands", {"description": "x", "type": "custom"}, "saved commands", 3, "user_records"),
        (
            "/calendars",
            {"name": "x", "data": base64.b64encode(DAILY).decode()},
            "calendars",
            3,
            "user_records",
        ),
        ("/notifications", {"type": "alarm"}, "notifications", 2, "user_tasks"),
    ],
)
async def test_a_user_creates_no_more_than_their_quota(limited, path, body, words, kept, quota):
    ann, bob = await limited.user("ann"), await limited.user("bob")
    numbers = [await made(ann, path, **body) for _ in range(kept)]
    answer = await ann.post(path, json=body)
    text = f"the user would have {kept + 1} {words}, of at most {kept}"
    assert (answer.status, answer.text) == refused(text, quota)
    # What was made may be edited; others have quotas of their own; what is deleted leaves room.
    shown = (await ann.get(f"{path}/{numbers[0]}")).json()
    assert (await ann.put(f"{path}/{numbers[0]}", json=shown)).status == 200
    await made(bob, path, **body)
    assert (await ann.delete(f"{path}/{numbers[0]}")).status == 204
    await made(ann, path, **body)


async def test_administrators_are_bound_by_what_all_have(limited):
    for _ in range(5):
        await made(limited.admin, "/maintenance", name="x", type="hours")
    answer = await limited.admin.post("/maintenance", json={"name": "x", "type": "hours"})
    text = "the server would have 6 maintenances, of at most 5"
    assert (answer.status, answer.text) == refused(text, "server_records")


async def test_who_gives_up_access_to_what_they_made_has_no_more_room(limited):
    ann = await limited.user("ann")
    numbers = [await made(ann, "/maintenance", name="x", type="hours") for _ in range(3)]
    for number in numbers:
        answer = await ann.delete("/permissions", json={"userId": ann.id, "maintenanceId": number})
        assert answer.status == 204, answer.text
    assert (await ann.post("/maintenance", json={"name": "x", "type": "hours"})).status == 400


async def test_points_of_geofences_are_counted_as_they_grow(limited):
    ann = await limited.user("ann")
    first, second = await geofence(ann), await geofence(ann, SQUARE)
    await geofence(ann)
    text = "the user would have 11 points of geofences, of at most 10"
    grown = {"name": "x", "area": SQUARE}
    answer = await ann.put(f"/geofences/{first}", json=grown)
    assert (answer.status, answer.text) == refused(text, "user_geofence_points")
    # An administrator's edit counts for who made it.
    answer = await limited.admin.put(f"/geofences/{first}", json=grown)
    assert (answer.status, answer.text) == refused(text, "user_geofence_points")
    assert (await ann.put(f"/geofences/{second}", json={"name": "x", "area": TRIANGLE})).status == 200
    assert (await ann.put(f"/geofences/{first}", json=grown)).status == 200


async def test_parallel_requests_exceed_no_quota(limited):
    ann = [await limited.user("ann")]
    ann += [await limited.log_in("ann@example.org", "ann") for _ in range(7)]
    body = {"name": "x", "type": "hours"}
    answers = await in_parallel(*(partial(each.post, "/maintenance", json=body) for each in ann))
    assert sorted(each.status for each in answers) == [200] * 3 + [400] * 5
    device_id = await limited.device(limited.admin, "1")
    numbers = [each.json()["id"] for each in answers if each.status == 200]
    admins = [await limited.log_in("admin@example.org", "admin") for _ in numbers]
    answers = await in_parallel(
        *(
            partial(each.post, "/permissions", json={"deviceId": device_id, "maintenanceId": number})
            for each, number in zip(admins, numbers, strict=True)
        )
    )
    assert sorted(each.status for each in answers) == [204] * 2 + [400]


async def test_a_device_has_no_more_than_its_quota_directly_and_by_its_groups(limited):
    admin = limited.admin
    top = await made(admin, "/groups", name="top")
    group = await made(admin, "/groups", name="group", groupId=top)
    device_id = await limited.device(admin, "1", groupId=group)
    areas = [await geofence(admin, area) for area in (TRIANGLE, SQUARE, TRIANGLE)]
    text = "a device would have 3 geofences, of at most 2"
    assert await link(admin, groupId=top, geofenceId=areas[0]) == LINKED
    assert await link(admin, deviceId=device_id, geofenceId=areas[1]) == LINKED
    for owner in ({"deviceId": device_id}, {"groupId": group}, {"groupId": top}):
        assert await link(admin, **owner, geofenceId=areas[2]) == refused(text, "device_geofences")
    # What is there already may be linked again; what is linked to a device and to its group counts for both.
    assert await link(admin, groupId=top, geofenceId=areas[0]) == LINKED
    assert await link(admin, deviceId=device_id, geofenceId=areas[0]) == refused(text, "device_geofences")
    text = "a device would have 8 points of geofences, of at most 7"
    answer = await admin.put(f"/geofences/{areas[0]}", json={"name": "x", "area": SQUARE})
    assert (answer.status, answer.text) == refused(text, "device_geofence_points")
    bulk = [{"groupId": group, "geofenceId": number} for number in areas]
    assert (await admin.post("/permissions/bulk", json=bulk)).status == 400
    assert await admin.get(f"/permissions?groupId={group}&geofenceId=0") is not None


async def test_a_group_has_no_more_than_a_device_may_have_though_it_is_empty(limited):
    group = await made(limited.admin, "/groups", name="group")
    areas = [await geofence(limited.admin) for _ in range(3)]
    answers = [await link(limited.admin, groupId=group, geofenceId=number) for number in areas]
    text = "a device would have 3 geofences, of at most 2"
    assert answers == [LINKED, LINKED, refused(text, "device_geofences")]


async def test_devices_and_groups_move_to_no_group_by_which_they_would_have_too_much(limited):
    admin = limited.admin
    full, inner = [await made(admin, "/groups", name=name) for name in ("full", "inner")]
    device_id = await limited.device(admin, "1")
    tasks = [await made(admin, "/notifications", type="alarm") for _ in range(3)]
    for number in tasks[:2]:
        assert await link(admin, groupId=full, notificationId=number) == LINKED
    assert await link(admin, deviceId=device_id, notificationId=tasks[2]) == LINKED
    device = (await admin.get(f"/devices/{device_id}")).json()
    text = "a device would have 3 notifications, of at most 2"
    answer = await admin.put(f"/devices/{device_id}", json={**device, "groupId": full})
    assert (answer.status, answer.text) == refused(text, "device_notifications")
    assert (await admin.put(f"/devices/{device_id}", json={**device, "groupId": inner})).status == 200
    answer = await admin.put(f"/groups/{inner}", json={"name": "inner", "groupId": full})
    assert (answer.status, answer.text) == refused(text, "device_notifications")
    assert (await limited.admin.delete(f"/notifications/{tasks[2]}")).status == 204
    assert (await admin.put(f"/groups/{inner}", json={"name": "inner", "groupId": full})).status == 200


@pytest.mark.parametrize("path", ["devices", "groups"])
async def test_those_that_change_places_at_once_do_not_wait_for_each_other(served, database, path):
    places = [await made(served.admin, "/groups", name=name) for name in ("north", "south")]
    rows = [
        (await served.admin.post(f"/{path}", json={"name": "x", "uniqueId": f"{at}", "groupId": at})).json()
        for at in places
    ]
    admins = [served.admin, await served.log_in("admin@example.org", "admin")]
    answers = []

    async def move():
        moves = zip(admins, rows, reversed(places), strict=True)
        answers[:] = await in_parallel(
            *(
                partial(each.put, f"/{path}/{row['id']}", json={**row, "groupId": place})
                for each, row, place in moves
            )
        )

    async with trio.open_nursery() as nursery, database.transaction() as transaction:
        # Both begin before either goes on.
        await quotas.lock(transaction, groups=places)
        nursery.start_soon(move)
        while await transaction.fetch_value(WAITING) < len(admins):
            await transaction.execute("select pg_stat_clear_snapshot()")
    assert [(answer.status, answer.json()["groupId"]) for answer in answers] == [
        (200, place) for place in reversed(places)
    ]


async def test_every_kind_has_its_quota_for_a_device(limited):
    admin = limited.admin
    device_id = await limited.device(admin, "1")

    async def last(key, numbers):
        answers = [await link(admin, deviceId=device_id, **{key: number}) for number in numbers]
        assert answers[:-1] == [LINKED] * (len(answers) - 1)
        return answers[-1]

    expression = {"description": "x", "attribute": "x", "type": "number"}
    attributes = [
        await made(admin, "/attributes/computed", **expression, expression=text)
        for text in ("1", "1", "1", "12345678")
    ]
    text = "a device would have 3 computed attributes, of at most 2"
    assert await last("attributeId", attributes[:3]) == refused(text, "device_computed_attributes")
    await admin.delete("/permissions", json={"deviceId": device_id, "attributeId": attributes[0]})
    text = "a device would have 9 characters of computed attributes, of at most 8"
    assert await last("attributeId", attributes[3:]) == refused(text, "device_expression_characters")

    others = [await limited.device(admin, number) for number in "234"]
    text = "a device would have 3 linked devices, of at most 2"
    assert await last("linkedDeviceId", others) == refused(text, "device_linked_devices")

    calendar = await made(admin, "/calendars", name="x", data=base64.b64encode(DAILY).decode())
    step = {"commandId": await made(admin, "/commands", description="x", type="custom")}
    schedule = {"name": "x", "calendarId": calendar, "onStart": [step, step]}
    schedules = [await made(admin, "/scheduledcommands", **schedule) for _ in range(2)]
    text = "a device would have 4 steps of scheduled commands, of at most 3"
    assert await last("scheduledCommandId", schedules) == refused(text, "device_scheduled_steps")
    schedule["onEnd"] = [step, step]
    answer = await admin.put(f"/scheduledcommands/{schedules[0]}", json=schedule)
    assert (answer.status, answer.text) == refused(text, "device_scheduled_steps")


async def test_what_exceeds_a_quota_already_stays_and_is_named_once_at_the_start(starting, database, caplog):
    async with starting() as served:
        ann = await served.user("ann")
        device_id = await served.device(served.admin, "1")
        numbers = [await geofence(ann, SQUARE) for _ in range(3)]
        for number in numbers:
            assert await link(served.admin, deviceId=device_id, geofenceId=number) == LINKED
    lowered = QuotaSettings(user_records=2, server_geofence_points=11, device_geofences=2)
    async with starting(quotas=lowered, is_first=False) as served:
        user_id = (await served.admin.get("/users?keyword=ann")).json()[0]["id"]
        kept = {"name": "y", "area": SQUARE}
        assert (await served.admin.put(f"/geofences/{numbers[0]}", json=kept)).status == 200
        assert await link(served.admin, deviceId=device_id, geofenceId=numbers[0]) == LINKED
        body = {"name": "x", "area": TRIANGLE}
        assert (await served.admin.post("/geofences", json=body)).status == 400
        with caplog.at_level(logging.WARNING):
            await log_exceeded_quotas(database, lowered)
        await log_exceeded_quotas(database, QuotaSettings())
    (line,) = [each.getMessage() for each in caplog.records if "quotas" in each.getMessage()]
    assert line == (
        "quotas are exceeded by what was stored before:"
        " the server has 12 points of geofences (quotas.server_geofence_points);"
        f" user {user_id} has 3 geofences (quotas.user_records);"
        " a device has 3 geofences (quotas.device_geofences)"
    )


async def test_every_measure_has_its_settings():
    settings = QuotaSettings()
    for kind in quotas.KINDS:
        for measure in (*kind.owned, *kind.shared):
            assert settings.limit("user", measure.name) <= settings.limit("server", measure.name)
        for measure in kind.applied:
            assert settings.limit("device", measure.name) > 0


async def test_attributes_are_of_limited_length(served):
    device_id = await served.device(served.admin, "1")
    device = (await served.admin.get(f"/devices/{device_id}")).json()
    long = {"note": "x" * 17_000}
    user = await served.user("ann")
    person = (await served.admin.get(f"/users/{user.id}")).json()
    company = {"name": "x", "attributes": {"note": "x" * 263_000}}
    for asked, most in (
        (served.admin.put(f"/devices/{device_id}", json={**device, "attributes": long}), 16_384),
        (user.put(f"/users/{user.id}", json={**person, "attributes": long}), 16_384),
        (user.post("/geofences", json={"name": "x", "area": TRIANGLE, "attributes": long}), 16_384),
        (user.post("/companies", json=company), 262_144),
    ):
        answer = await asked
        assert (answer.status, answer.text) == (400, f"attributes: more than {most} bytes")
    assert (await user.post("/companies", json={"name": "x", "attributes": long})).status == 200


async def test_areas_are_of_limited_length(served):
    area = f"POLYGON (({' ' * 100_000}1 1, 1 2, 2 2))"
    answer = await served.admin.post("/geofences", json={"name": "x", "area": area})
    assert (answer.status, answer.text) == (400, "area: longer than 100000 characters")


async def test_links_of_a_group_and_of_devices_in_it_exceed_no_quota_together(limited):
    admin = limited.admin
    group = await made(admin, "/groups", name="group")
    device_id = await limited.device(admin, "1", groupId=group)
    areas = [await geofence(admin) for _ in range(4)]
    admins = [await limited.log_in("admin@example.org", "admin") for _ in areas]
    owners = ({"groupId": group}, {"deviceId": device_id}) * 2
    answers = await in_parallel(
        *(
            partial(each.post, "/permissions", json={**owner, "geofenceId": number})
            for each, owner, number in zip(admins, owners, areas, strict=True)
        )
    )
    assert sorted(each.status for each in answers) == [204] * 2 + [400] * 2


async def test_users_linked_to_notifications_count_for_who_created_these(starting):
    async with starting(quotas=QuotaSettings(user_notified=3, server_notified=5)) as served:
        ann = await served.user("ann", userLimit=-1)
        others = [
            await made(ann, "/users", name=name, email=f"{name}@x", password="a long one") for name in "bcd"
        ]
        mine = await made(ann, "/notifications", type="alarm")
        for user_id in others[:2]:
            assert await link(ann, userId=user_id, notificationId=mine) == LINKED
            assert await link(ann, userId=user_id, notificationId=mine) == LINKED
        text = "the user would have 4 links of users to notifications, of at most 3"
        assert await link(ann, userId=others[2], notificationId=mine) == refused(text, "user_notified")
        # An administrator's link counts for the creator as well; theirs only for all.
        assert await link(served.admin, userId=others[2], notificationId=mine) == refused(
            text, "user_notified"
        )
        number = await made(served.admin, "/notifications", type="alarm")
        assert await link(served.admin, userId=others[0], notificationId=number) == LINKED
        text = "the server would have 6 links of users to notifications, of at most 5"
        assert await link(served.admin, userId=others[1], notificationId=number) == refused(
            text, "server_notified"
        )


async def test_ticket_rules_count_for_who_created_the_company(starting):
    async with starting(quotas=QuotaSettings(user_ticket_rules=3, server_ticket_rules=4)) as served:
        ann = await served.user("ann")
        rule = {"name": "x", "when": {"eventTypes": ["alarm"]}}
        first = await made(ann, "/companies", name="x", attributes={"ticketRules": [rule] * 2})
        text = "the user would have 4 ticket rules, of at most 3"
        body = {"name": "y", "attributes": {"ticketRules": [rule] * 2}}
        answer = await ann.post("/companies", json=body)
        assert (answer.status, answer.text) == refused(text, "user_ticket_rules")
        stored = (await ann.get(f"/companies/{first}")).json()
        grown = {**stored, "attributes": {"ticketRules": [rule] * 4}}
        for client in (ann, served.admin):
            answer = await client.put(f"/companies/{first}", json=grown)
            assert (answer.status, answer.text) == refused(text, "user_ticket_rules")
        answer = await served.admin.post(
            "/companies", json={"name": "z", "attributes": {"ticketRules": [rule] * 3}}
        )
        text = "the server would have 5 ticket rules, of at most 4"
        assert (answer.status, answer.text) == refused(text, "server_ticket_rules")
        assert (await ann.put(f"/companies/{first}", json=stored)).status == 200


async def test_attributes_and_texts_count_by_their_bytes(starting):
    async with starting(quotas=QuotaSettings(user_bytes=1500)) as served:
        ann = await served.user("ann", deviceLimit=-1)
        note = {"note": "x" * 700}
        for path, body in (
            ("/geofences", {"name": "x", "area": TRIANGLE}),
            ("/drivers", {"name": "x", "uniqueId": "1"}),
            ("/groups", {"name": "x"}),
            ("/notifications", {"type": "alarm"}),
        ):
            first = await made(ann, path, **body, attributes=note)
            more = {**body, **({"uniqueId": "2"} if path == "/drivers" else {})}
            answer = await ann.post(path, json={**more, "attributes": {"note": "x" * 900}})
            assert (answer.status, "bytes of " in answer.text) == (400, True), path
            shown = (await ann.get(f"{path}/{first}")).json()
            answer = await ann.put(f"{path}/{first}", json={**shown, "attributes": {"note": "x" * 1500}})
            assert (answer.status, "(quotas.user_bytes)" in answer.text) == (400, True), path
        device_id = await served.device(ann, "1", attributes=note)
        device = (await ann.get(f"/devices/{device_id}")).json()
        answer = await ann.put(f"/devices/{device_id}", json={**device, "attributes": {"note": "x" * 1500}})
        assert answer.text == (
            "the user would have 1512 bytes of devices, of at most 1500 (quotas.user_bytes)"
        )


async def test_calendars_count_by_what_they_cost(starting):
    async with starting(quotas=QuotaSettings(user_calendar_cost=3_500)) as served:
        ann = await served.user("ann")
        daily = base64.b64encode(DAILY).decode()
        first = await made(ann, "/calendars", name="x", data=daily)
        shown = (await ann.get(f"/calendars/{first}")).json()
        assert set(shown) == {"id", "name", "data", "attributes"}
        (cost,) = (await served.context.database.fetch("select cost from calendars"))[0].values()
        assert 1_000 < cost < 3_500 < 2 * cost
        refusal = refused(
            f"the user would have {2 * cost} steps of calendars, of at most 3500", "user_calendar_cost"
        )
        answer = await ann.post("/calendars", json={"name": "x", "data": daily})
        assert (answer.status, answer.text) == refusal
        once = DAILY.replace(b"RRULE:FREQ=DAILY\n", b"")
        second = await made(ann, "/calendars", name="x", data=base64.b64encode(once).decode())
        assert (await ann.put(f"/calendars/{first}", json={**shown, "name": "y"})).status == 200
        answer = await ann.put(f"/calendars/{second}", json={"name": "x", "data": daily})
        assert (answer.status, answer.text) == refusal

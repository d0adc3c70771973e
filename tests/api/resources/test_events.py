from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from motorpool.storage.events import events
from motorpool.storage.records import Event

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def happen(database, device_id):
    event = Event(type="alarm", event_time=NOON, device_id=device_id, attributes={"alarm": "sos"})
    await events.assign_ids(database, [event])
    await events.insert_many(database, [event])
    return event.id


async def test_an_event_is_told_to_who_may_see_its_device(served, database):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    event_id = await happen(database, number)
    answer = await served.admin.get(f"/events/{event_id}")
    assert answer.status == 200
    assert answer.json() == {
        "id": event_id,
        "type": "alarm",
        "eventTime": "2026-05-01T12:00:00Z",
        "deviceId": number,
        "positionId": 0,
        "geofenceId": 0,
        "maintenanceId": 0,
        "attributes": {"alarm": "sos"},
        "severity": None,
        "review": None,
    }
    assert (await ann.get(f"/events/{event_id}")).status == 404
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert (await ann.get(f"/events/{event_id}")).status == 200
    assert (await served.client().get(f"/events/{event_id}")).status == 401


async def test_what_never_happened_is_404(served, database):
    assert (await served.admin.get("/events/1")).status == 404
    assert (await served.admin.get("/events/9223372036854775807")).status == 404
    orphan = await happen(database, 4711)
    assert (await served.admin.get(f"/events/{orphan}")).status == 404


async def test_the_newest_events_come_first_and_by_pages(served, database):
    van = await served.device(served.admin, "1")
    ids = [await happen(database, van) for _ in range(3)]
    span = "from=2026-05-01T12:00:00Z&to=2026-05-01T12:00:00Z"
    first = (await served.admin.get(f"/events?{span}&limit=2")).json()
    assert [each["id"] for each in first] == ids[:0:-1]
    rest = await served.admin.get(f"/events?{span}&limit=2&beforeId={first[-1]['id']}")
    assert [each["id"] for each in rest.json()] == ids[:1]
    answer = await served.admin.get(f"/events?{span}&type=alarm&alarm=door&deviceId={van}")
    assert (answer.status, answer.json()) == (200, [])


async def test_lists_say_where_events_happened_if_asked(served, database):
    ann = await served.user("ann", attributes={"language": "de"})
    van = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van})
    area = {"name": "Yard", "area": "CIRCLE (52.42 13.1, 50)"}
    yard = (await served.admin.post("/geofences", json=area)).json()["id"]
    (here,) = await served.report(
        served.position(van, NOON, latitude=52.42, longitude=13.1, geofence_ids=[yard])
    )
    found = [
        Event(type="alarm", event_time=NOON, device_id=van, position_id=position_id)
        for position_id in (0, here.id)
    ]
    await events.assign_ids(database, found)
    await events.insert_many(database, found)

    async def places(client, **more):
        query = urlencode(
            {"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z", "type": "alarm"} | more
        )
        return [each["place"] for each in (await client.get(f"/events?{query}")).json()]

    assert await places(served.admin) == [None, None]
    assert await places(served.admin, places="true") == ["Yard", None]
    assert await places(ann, places="true") == ["Potsdam, 3 km NO", None]
    await served.admin.post("/permissions", json={"userId": ann.id, "geofenceId": yard})
    assert await places(ann, places="true") == ["Yard", None]


async def test_lists_leave_out_what_the_caller_may_not_see(served, database):
    ann = await served.user("ann", deviceLimit=-1)
    mine, other = await served.device(ann, "1"), await served.device(served.admin, "2")
    for each in (mine, other):
        await happen(database, each)
    area = {"name": "Depot", "area": "CIRCLE (52.5 13.4, 50)"}
    geofences = [(await who.post("/geofences", json=area)).json()["id"] for who in (ann, served.admin)]
    visits = [
        Event(type="geofenceEnter", event_time=NOON, device_id=mine, geofence_id=each) for each in geofences
    ]
    await events.assign_ids(database, visits)
    await events.insert_many(database, visits)
    span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    for query in (span, f"{span}&deviceId={mine}&deviceId={other}"):
        seen = (await ann.get(f"/events?{query}")).json()
        assert [(each["deviceId"], each["geofenceId"]) for each in seen] == [(mine, geofences[0]), (mine, 0)]
    assert (await ann.get(f"/events?{span}&deviceId={other}")).json() == []


async def test_spans_that_are_refused(served):
    answer = await served.admin.get("/events?from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z")
    assert (answer.status, answer.text) == (400, "to: lies before from")
    answer = await served.admin.get("/events?from=2026-05-01T00:00:00Z&to=2026-06-02T00:00:00Z")
    assert (answer.status, answer.text) == (400, "to: more than 31 days after from")
    span = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    assert (await served.admin.get(f"/events?{span}&limit=1001")).status == 400
    for query, missing in (("", "from"), ("?from=2026-05-01T00:00:00Z&state=OPEN&state=DISMISSED", "to")):
        answer = await served.admin.get(f"/events{query}")
        assert (answer.status, answer.text) == (400, f"{missing}: needed")


async def test_lists_name_driver_and_picture_if_asked(served, database):
    van = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": served.admin_id, "deviceId": van})
    (here,) = await served.report(served.position(van, NOON, attributes={"driverUniqueId": "D1"}))

    def media(minutes, file, kind="image"):
        attributes = {"media": kind, "file": file}
        at = NOON + timedelta(minutes=minutes)
        return Event(type="media", event_time=at, device_id=van, attributes=attributes)

    made = [
        Event(type="alarm", event_time=NOON, device_id=van, position_id=here.id),
        Event(type="alarm", event_time=NOON - timedelta(hours=1), device_id=van),
        media(-4, "early.jpg"),
        media(1, "film.mp4", "video"),
        media(3, "near.jpg"),
    ]
    await events.assign_ids(database, made)
    await events.insert_many(database, made)
    query = "/events?type=alarm&from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    for asked, expected in (("&details=true", [("D1", "near.jpg"), (None, None)]), ("", [(None, None)] * 2)):
        listed = (await served.admin.get(query + asked)).json()
        assert [(each["driverUniqueId"], each["picture"]) for each in listed] == expected

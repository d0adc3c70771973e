import base64
from datetime import UTC, datetime

from tests.api.cases import on_one_server

from motorpool.actors.reports.columns import SCHEDULED
from motorpool.storage.accounts import links
from motorpool.storage.reports import scheduled_reports

DATA = base64.b64encode(
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:1\nDTSTART:20260501T180000Z\n"
    b"DTEND:20260501T200000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR"
).decode()


async def a_calendar(client):
    made = await client.post("/calendars", json={"name": "evenings", "data": DATA})
    assert made.status == 200, made.text
    return made.json()["id"]


async def a_report(client, calendar_id, **fields):
    body = {"type": "trips", "description": "trips", "calendarId": calendar_id, **fields}
    made = await client.post("/reports", json=body)
    assert made.status == 200, made.text
    return made.json()


async def watched_from(served, report_id):
    sql = "select watched_from from scheduled_reports where id = $1"
    return await served.context.database.fetch_value(sql, report_id)


async def test_it_is_stored_listed_changed_and_deleted(served):
    calendar_id = await a_calendar(served.admin)
    made = await a_report(served.admin, calendar_id, attributes={"daily": True})
    assert made == {
        "id": made["id"],
        "description": "trips",
        "type": "trips",
        "calendarId": calendar_id,
        "attributes": {"daily": True},
    }
    other = await a_report(served.admin, calendar_id, description="All of it", type="summary")
    assert (await served.admin.get("/reports")).json() == [other, made]
    assert (await served.admin.get("/reports?keyword=trip")).json() == [made]
    changed = {**made, "description": "changed"}
    assert (await served.admin.put(f"/reports/{made['id']}", json=changed)).json() == changed
    assert (await served.admin.get(f"/reports/{made['id']}")).json() == changed
    assert (await served.admin.delete(f"/reports/{made['id']}")).status == 204
    assert (await served.admin.get("/reports")).json() == [other]


@on_one_server(
    ("wrong", "text"),
    [
        (
            {"type": "everything"},
            "type: not one of combined, drivers, events, fuel, geofences, idling, presence, route, sensors,"
            " stops, summary, trips, utilisation",
        ),
        ({"type": ""}, "type: needed"),
        ({"calendarId": 0}, "calendarId: needed"),
        ({"calendarId": 4711}, "calendarId: no access to it, or no such"),
        ({"attributes": {"daily": "yes"}}, "attributes: Expected `bool`, got `str` - at `$.daily`"),
        ({"type": "geofences"}, "attributes: a report of type geofences needs geofenceId"),
        (
            {"type": "presence", "attributes": {"latitude": 1}},
            "attributes: a report of type presence needs latitude and longitude",
        ),
        (
            {"type": "presence", "attributes": {"latitude": 91, "longitude": 0}},
            "attributes: Expected `float` <= 90.0 - at `$.latitude`",
        ),
    ],
)
async def test_what_cannot_be_sent_is_refused(served, wrong, text):
    body = {"type": "trips", "calendarId": await a_calendar(served.admin), **wrong}
    refused = await served.admin.post("/reports", json=body)
    assert (refused.status, refused.text) == (400, text)


@on_one_server("kind", SCHEDULED)
async def test_each_report_with_a_period_can_be_sent(served, kind):
    options = {
        "geofences": {"geofenceId": [1]},
        "presence": {"latitude": 52.5, "longitude": 13, "radius": 50},
    }
    fields = {"type": kind, "attributes": options.get(kind, {})}
    made = await a_report(served.admin, await a_calendar(served.admin), **fields)
    assert (await served.admin.get("/reports")).json() == [made]
    assert (await served.admin.delete(f"/reports/{made['id']}")).status == 204


async def test_devices_and_groups_are_linked_with_audit(served):
    device_id = await served.device(served.admin, "1")
    report = await a_report(served.admin, await a_calendar(served.admin))
    link = {"deviceId": device_id, "reportId": report["id"]}
    assert (await served.admin.post("/permissions/bulk", json=[link])).status == 204
    database = served.context.database
    assert await links.find(database, links.DEVICE_REPORT) == [(device_id, report["id"])]
    assert (await served.admin.delete("/permissions/bulk", json=[link])).status == 204
    assert await links.find(database, links.DEVICE_REPORT) == []
    actions = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    found = [(each["actionType"], each["objectId"]) for each in actions if each["objectType"] == "report"]
    assert found == [("create", report["id"]), ("link", report["id"]), ("unlink", report["id"])]


async def test_a_deleted_calendar_takes_its_reports_with_it(served):
    first, second = await a_calendar(served.admin), await a_calendar(served.admin)
    gone, kept = await a_report(served.admin, first), await a_report(served.admin, second)
    assert (await served.admin.delete(f"/calendars/{first}")).status == 204
    assert (await served.admin.get("/reports")).json() == [kept]
    actions = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z")).json()
    removed = [each["objectId"] for each in actions if each["actionType"] == "remove"]
    assert removed == [gone["id"], first]


async def test_a_calendar_is_watched_from_the_change_that_makes_it_new(served):
    first, second = await a_calendar(served.admin), await a_calendar(served.admin)
    made = await a_report(served.admin, first)
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert await watched_from(served, made["id"]) >= noon
    early = noon.replace(hour=1)
    database = served.context.database
    await scheduled_reports.WATCHED.watch_from(database, made["id"], early)
    await served.admin.put(f"/reports/{made['id']}", json={**made, "description": "same calendar"})
    assert await watched_from(served, made["id"]) == early
    await served.admin.put(f"/reports/{made['id']}", json={**made, "calendarId": second})
    assert await watched_from(served, made["id"]) >= noon
    await scheduled_reports.WATCHED.watch_from(database, made["id"], early)
    calendar = (await served.admin.get(f"/calendars/{second}")).json()
    await served.admin.put(f"/calendars/{second}", json={**calendar, "name": "same windows"})
    assert await watched_from(served, made["id"]) == early
    moved = base64.b64encode(base64.b64decode(DATA).replace(b"180000", b"170000")).decode()
    await served.admin.put(f"/calendars/{second}", json={**calendar, "data": moved})
    assert await watched_from(served, made["id"]) >= noon

import base64
import threading
from collections import Counter
from functools import partial
from time import sleep

import trio

from motorpool.actors.work.stored_calendars import read_stored

TEXT = (
    b"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Traccar//NONSGML Traccar//EN\nBEGIN:VEVENT\nUID:0\n"
    b"DTSTART;TZID=Europe/Berlin:20260105T080000\nDTEND;TZID=Europe/Berlin:20260105T170000\n"
    b"RRULE:FREQ=WEEKLY;BYDAY=MO\nSUMMARY:Event\nEND:VEVENT\nEND:VCALENDAR"
)


def encoded(text=TEXT):
    return base64.b64encode(text).decode()


async def calendar(client, name="Office"):
    made = await client.post("/calendars", json={"name": name, "data": encoded()})
    assert made.status == 200, made.text
    return made.json()["id"]


async def test_the_text_comes_back_as_it_was_sent_broken_lines_and_all(served):
    wrapped = base64.encodebytes(TEXT).decode()
    assert "\n" in wrapped.strip()
    for data in (encoded(), wrapped, encoded(TEXT.replace(b"\n", b"\r\n"))):
        made = (await served.admin.post("/calendars", json={"name": "x", "data": data})).json()
        assert made["data"] == data
        assert (await served.admin.get(f"/calendars/{made['id']}")).json()["data"] == data


async def test_what_cannot_be_read_is_refused_with_the_line_and_the_property(served):
    number = await calendar(served.admin)
    for text, why in [
        (
            TEXT.replace(b"20260105T080000", b"20261305T080000"),
            "data: line 6: DTSTART: '20261305T080000' is not in",
        ),
        (
            TEXT.replace(b"TZID=Europe/Berlin:20260105T17", b"TZID=Mars:20260105T17"),
            "data: line 7: DTEND: unknown time",
        ),
        (TEXT.replace(b"WEEKLY", b"SECONDLY"), "data: line 8: RRULE: FREQ=SECONDLY is finer than HOURLY"),
        (TEXT.removesuffix(b"END:VCALENDAR"), "data: line 1: VCALENDAR: never ends"),
        (b"", "data: needed"),
    ]:
        refused = await served.admin.put(f"/calendars/{number}", json={"name": "x", "data": encoded(text)})
        assert refused.status == 400
        assert refused.text.startswith(why), refused.text
    assert (await served.admin.get(f"/calendars/{number}")).json()["data"] == encoded()


async def test_deleting_a_calendar_leaves_what_used_it_without_one(served):
    number = await calendar(served.admin)
    device = await served.device(served.admin, "1", calendarId=number)
    uses = [("/devices", device)]
    for path, body in (
        ("/geofences", {"name": "x", "area": "CIRCLE (1 2, 3)", "calendarId": number}),
        ("/notifications", {"type": "alarm", "calendarId": number}),
    ):
        uses.append((path, (await served.admin.post(path, json=body)).json()["id"]))
    for path, one in uses:
        assert (await served.admin.get(f"{path}/{one}")).json()["calendarId"] == number
    assert (await served.admin.delete(f"/calendars/{number}")).status == 204
    for path, one in uses:
        assert (await served.admin.get(f"{path}/{one}")).json()["calendarId"] == 0, path


async def test_a_calendar_can_be_given_only_by_who_has_access_to_it(served):
    ann = await served.user("ann", deviceLimit=-1)
    hers, admins = await calendar(ann), await calendar(served.admin, "Secret")
    for path, body in (
        ("/geofences", {"name": "x", "area": "CIRCLE (1 2, 3)"}),
        ("/notifications", {"type": "alarm"}),
        ("/devices", {"name": "x", "uniqueId": "1"}),
    ):
        for number in (admins, 999):
            refused = await ann.post(path, json={**body, "calendarId": number})
            assert (refused.status, refused.text) == (400, "calendarId: no access to it, or no such"), path
        made = (await ann.post(path, json={**body, "calendarId": hers})).json()
        refused = await ann.put(f"{path}/{made['id']}", json={**made, "calendarId": admins})
        assert refused.status == 400, path
        # What an administrator has set may stay when other fields are changed.
        kept = await served.admin.put(f"{path}/{made['id']}", json={**made, "calendarId": admins})
        assert kept.status == 200, kept.text
        again = await ann.put(f"{path}/{made['id']}", json={**kept.json(), "description": "new"})
        assert (again.status, again.json()["calendarId"]) == (200, admins), path


async def test_one_that_shuts_for_a_moment_is_kept_with_a_warning(served):
    days = (
        TEXT.replace(b"T080000", b"T000000")
        .replace(b"T170000", b"T235900")
        .replace(b"WEEKLY;BYDAY=MO", b"DAILY")
    )
    for method, path in (("post", "/calendars"), ("put", f"/calendars/{await calendar(served.admin)}")):
        kept = await getattr(served.admin, method)(path, json={"name": "x", "data": encoded(days)})
        assert kept.status == 200
        assert kept.headers["X-Warning"].startswith("it is shut for 60 s at 2026-05-01T21:59:00Z")
        whole = days.replace(b"T235900", b"T235859")
        kept = await getattr(served.admin, method)(path, json={"name": "x", "data": encoded(whole)})
        assert "X-Warning" not in kept.headers


JUNE = "from=2026-06-01T00:00:00Z&to=2026-07-01T00:00:00Z"


async def windows(client, text, span=JUNE, **attributes):
    body = {"data": encoded(text), "attributes": attributes}
    return await client.post(f"/calendars/windows?{span}", json=body)


async def test_windows_are_merged_clipped_and_of_a_calendar_that_is_not_stored(served):
    ann = await served.user("ann")
    touching = TEXT.replace(
        b"END:VCALENDAR",
        (
            b"BEGIN:VEVENT\nUID:1\nDTSTART;TZID=Europe/Berlin:20260601T170000\n"
            b"DTEND;TZID=Europe/Berlin:20260601T180000\nEND:VEVENT\nEND:VCALENDAR"
        ),
    )
    answer = await windows(ann, touching, "from=2026-06-01T09:00:00Z&to=2026-06-08T07:00:00Z")
    assert answer.status == 200, answer.text
    assert answer.json() == [
        {"startTime": "2026-06-01T09:00:00Z", "endTime": "2026-06-01T16:00:00Z"},
        {"startTime": "2026-06-08T06:00:00Z", "endTime": "2026-06-08T07:00:00Z"},
    ]
    assert (await served.admin.get("/calendars?all=true")).json() == []


async def test_floating_times_are_in_the_zone_of_the_calendar_else_of_the_server(served):
    floating = TEXT.replace(b";TZID=Europe/Berlin", b"")

    async def first(**attributes):
        return (await windows(served.admin, floating, **attributes)).json()[0]["startTime"]

    assert await first() == "2026-06-01T08:00:00Z"
    assert await first(timezone="America/New_York") == "2026-06-01T12:00:00Z"
    server = (await served.admin.get("/server")).json()
    await served.admin.put("/server", json={**server, "attributes": {"timezone": "Asia/Tokyo"}})
    assert await first() == "2026-06-01T00:00:00Z"  # it opened an hour before
    assert await first(timezone="America/New_York") == "2026-06-01T12:00:00Z"


async def test_windows_of_bad_text_long_spans_and_too_many_are_refused(served):
    long = "from=2026-01-01T00:00:00Z&to=2027-01-03T00:00:00Z"
    back = "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"
    # Two of them in an hour, which do not touch.
    hourly = TEXT.replace(b"WEEKLY;BYDAY=MO", b"HOURLY").replace(b"T170000", b"T080500")
    half = hourly.partition(b"BEGIN:VEVENT")[2].partition(b"END:VEVENT")[0].replace(b"T08", b"T09")
    half = half.replace(b"0900", b"0930").replace(b"0905", b"0935").replace(b"UID:0", b"UID:1")
    often = hourly.replace(b"END:VCALENDAR", b"BEGIN:VEVENT" + half + b"END:VEVENT\nEND:VCALENDAR")
    year = "from=2026-02-01T00:00:00Z&to=2027-02-01T00:00:00Z"
    span = "from, to: a span of at most 366 days, and its end after its start"
    for text, asked, attributes, why in [
        (b"x", JUNE, {}, "data: line 1"),
        (TEXT, long, {}, span),
        (TEXT, back, {}, "to: lies before from"),
        (TEXT, JUNE, {"timezone": "Mars"}, "attributes.timezone: not a known time zone"),
        (often, year, {}, "from, to: 17518 windows; ask for a shorter span"),
    ]:
        refused = await windows(served.admin, text, asked, **attributes)
        assert (refused.status, refused.text[: len(why)]) == (400, why)
    assert (await served.admin.post(f"/calendars/windows?{JUNE}", json={"name": "x"})).status == 400


LONG = b"DTSTART:20200101T000000Z\nDURATION:P3600D\nRRULE:FREQ=DAILY\nEND:VEVENT\n"


def overlapping(number):
    events = b"".join(b"BEGIN:VEVENT\nUID:%d\n%s" % (each, LONG) for each in range(number))
    return b"BEGIN:VCALENDAR\n" + events + b"END:VCALENDAR"


async def test_events_that_overlap_too_much_are_refused_with_the_reason(served):
    # Each question about a month looked at ten years of instances: the next edge took three minutes.
    why = (
        "data: too many events recur, or overlap for long: 2355700 times would have to be looked at,"
        " and at most 500000 may be"
    )
    number = await calendar(served.admin)
    body = {"name": "x", "data": encoded(overlapping(100))}
    for refused in (
        await served.admin.post("/calendars", json=body),
        await served.admin.put(f"/calendars/{number}", json=body),
        await windows(served.admin, overlapping(100)),
    ):
        assert (refused.status, refused.text) == (400, why)
    kept = await served.admin.post("/calendars", json={"name": "x", "data": encoded(overlapping(2))})
    assert kept.status == 200


async def test_calendars_of_a_user_are_read_one_at_a_time_and_those_of_others_beside_them(
    served, monkeypatch
):
    running, most = Counter(), Counter()

    def watched(written):
        user = "ann" if b"UID:ann" in base64.b64decode(written) else "bob"
        running[user] += 1
        most[user] = max(most[user], running[user])
        sleep(0.05)
        running[user] -= 1
        return read_stored(written)

    monkeypatch.setattr("motorpool.api.resources.calendars.read_stored", watched)
    clients = {name: await served.user(name, deviceLimit=-1) for name in ("ann", "bob")}

    async def make(name):
        text = TEXT.replace(b"UID:0", b"UID:" + name.encode())
        made = await clients[name].post("/calendars", json={"name": "x", "data": encoded(text)})
        assert made.status == 200

    async with trio.open_nursery() as nursery:
        for name in ["ann"] * 4 + ["bob"] * 2:
            nursery.start_soon(make, name)
    assert most == {"ann": 1, "bob": 1}


async def test_who_waits_too_long_for_the_calendars_of_others_is_told_to_try_again(served, monkeypatch):
    monkeypatch.setattr("motorpool.api.resources.calendars.WAIT_SECONDS", 0.05)
    may_end = threading.Event()

    def waiting(written):
        may_end.wait(60)
        return read_stored(written)

    monkeypatch.setattr("motorpool.api.resources.calendars.read_stored", waiting)
    async with trio.open_nursery() as nursery:
        body = {"name": "x", "data": encoded()}
        nursery.start_soon(partial(served.admin.post, "/calendars", json=body))
        await trio.sleep(0.2)
        refused = await served.admin.post("/calendars", json=body)
        may_end.set()
    assert (refused.status, refused.text) == (503, "other calendars are being read; try again")

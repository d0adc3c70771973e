import base64

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
        (TEXT, back, {}, span),
        (TEXT, JUNE, {"timezone": "Mars"}, "attributes.timezone: not a known time zone"),
        (often, year, {}, "from, to: 17518 windows; ask for a shorter span"),
    ]:
        refused = await windows(served.admin, text, asked, **attributes)
        assert (refused.status, refused.text[: len(why)]) == (400, why)
    assert (await served.admin.post(f"/calendars/windows?{JUNE}", json={"name": "x"})).status == 400

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

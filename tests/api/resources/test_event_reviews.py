"""Review of events: who may say what became of an alarm, and what others see of it."""

from datetime import UTC, datetime, timedelta

import pytest
import trio
from tests.api.cases import on_one_server

from motorpool.actors.messages.topics import REVIEWS, ReviewsChanged
from motorpool.storage.events import event_lists, events
from motorpool.storage.events.event_lists import FEW_DEVICES
from motorpool.storage.records import Event, Review

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DAY = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"


async def happen(database, device_id, *, severity="WARNING", minutes=0, **fields):
    """An event as devices make it; its id."""
    event = Event(
        type="alarm",
        event_time=NOON + timedelta(minutes=minutes),
        device_id=device_id,
        severity=severity,
        review=None if severity in (None, "INFO") else Review(),
        **{"attributes": {"alarm": "sos"}, **fields},
    )
    await events.assign_ids(database, [event])
    await events.insert_many(database, [event])
    return event.id


@pytest.fixture
async def van(served):
    return await served.device(served.admin, "1")


async def test_a_review_says_what_who_and_when(served, database, van):
    number = await happen(database, van)
    assert (await served.admin.get(f"/events/{number}")).json()["review"] == {
        "state": "OPEN",
        "note": None,
        "userId": 0,
        "userName": None,
        "time": None,
        "version": 1,
    }
    answer = await served.admin.put(
        f"/events/{number}/review", json={"state": "DISMISSED", "note": " A false alarm\n", "version": 1}
    )
    assert (answer.status, answer.headers["ETag"]) == (200, '"2"')
    admin = (await served.admin.get("/session")).json()
    review = {
        "state": "DISMISSED",
        "note": "A false alarm",
        "userId": admin["id"],
        "userName": admin["name"],
        "time": answer.json()["review"]["time"],
        "version": 2,
    }
    assert answer.json()["review"] == review
    assert (await served.admin.get(f"/events/{number}")).json()["review"] == review
    (listed,) = (await served.admin.get(f"/events?{DAY}&deviceId={van}")).json()
    assert (listed["severity"], listed["review"]) == ("WARNING", review)
    audit = (await served.admin.get("/audit?from=2026-01-01T00:00:00Z&to=2036-01-01T00:00:00Z")).json()
    (written,) = [each for each in audit if each["actionType"] == "review"]
    assert (written["objectType"], written["objectId"], written["userId"]) == ("event", number, admin["id"])
    assert written["attributes"] == {
        "state": {"before": "OPEN", "after": "DISMISSED"},
        "note": "A false alarm",
    }


async def test_it_is_undone_by_the_version_that_it_has(served, database, van):
    number = await happen(database, van)
    path = f"/events/{number}/review"
    assert (await served.admin.put(path, json={"state": "ACKNOWLEDGED", "note": "Seen"})).status == 200
    for sent, headers in (({"version": 1}, {}), ({}, {"If-Match": '"1"'})):
        answer = await served.admin.put(path, json={"state": "OPEN", **sent}, headers=headers)
        text = f"event {number} was changed: it is at version 2, you sent 1"
        assert (answer.status, answer.text) == (400, text)
    answer = await served.admin.put(path, json={"state": "OPEN", "version": 2})
    assert answer.json()["review"] | {"userId": 0, "time": None, "userName": ""} == {
        "state": "OPEN",
        "note": None,
        "userId": 0,
        "userName": "",
        "time": None,
        "version": 3,
    }


async def test_of_two_reviews_of_the_same_version_one_is_stored(served, database, van):
    ann, ben = await served.user("ann"), await served.user("ben")
    for each in (ann, ben):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": van})
    number = await happen(database, van)
    answers = {}

    async def review(client, state):
        sent = {"state": state, "version": 1}
        answers[state] = await client.put(f"/events/{number}/review", json=sent)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(review, ann, "ACKNOWLEDGED")
        nursery.start_soon(review, ben, "DISMISSED")
    assert sorted(each.status for each in answers.values()) == [200, 400]
    (won,) = [state for state, answer in answers.items() if answer.status == 200]
    assert (await ann.get(f"/events/{number}")).json()["review"]["state"] == won


@on_one_server(
    ("body", "text"),
    [
        ({"state": "DONE"}, "state"),
        ({}, "state"),
        ({"state": "OPEN", "note": "x" * 1001}, "note"),
        ({"state": "OPEN", "note": "a\u202eb"}, "note: holds the character U+202E"),
        ({"state": "OPEN", "version": -1}, "version"),
    ],
)
async def test_what_is_no_review_is_refused(served, database, van, body, text):
    number = await happen(database, van)
    answer = await served.admin.put(f"/events/{number}/review", json=body)
    assert answer.status == 400
    assert text in answer.text
    assert (await served.admin.get(f"/events/{number}")).json()["review"]["version"] == 1


@pytest.mark.parametrize("severity", ["INFO", None])
async def test_what_nobody_has_to_look_at_has_no_review(served, database, van, severity):
    number = await happen(database, van, severity=severity)
    answer = await served.admin.put(f"/events/{number}/review", json={"state": "ACKNOWLEDGED"})
    assert (answer.status, answer.text) == (400, f"event {number} needs no review")


async def test_lists_by_state_and_severity(served, database, van):
    old = await happen(database, van, severity="CRITICAL", minutes=-2 * 365 * 24 * 60)
    critical = await happen(database, van, severity="CRITICAL")
    warning = await happen(database, van, minutes=1)
    info = await happen(database, van, severity="INFO", minutes=2)
    seen = await happen(database, van, minutes=3)
    assert (await served.admin.put(f"/events/{seen}/review", json={"state": "ACKNOWLEDGED"})).status == 200

    async def listed(query):
        answer = await served.admin.get(f"/events?deviceId={van}&{query}")
        assert answer.status == 200, answer.text
        return [each["id"] for each in answer.json()]

    # What waits may be of any age.
    assert await listed("state=OPEN") == [warning, critical, old]
    assert await listed("state=OPEN&severity=CRITICAL") == [critical, old]
    assert await listed("state=OPEN&from=2026-05-01T00:00:00Z") == [warning, critical]
    assert await listed("state=OPEN&to=1800-01-01T00:00:00Z") == []
    assert await listed("state=OPEN&limit=2") == [warning, critical]
    page = "state=OPEN&limit=2&to=2026-05-01T12:00:00Z"
    assert await listed(f"{page}&beforeId={critical}") == [old]
    assert await listed(f"state=ACKNOWLEDGED&state=DISMISSED&{DAY}") == [seen]
    assert await listed(f"state=OPEN&state=ACKNOWLEDGED&{DAY}") == [seen, warning, critical]
    assert await listed(f"severity=INFO&severity=CRITICAL&{DAY}") == [info, critical]
    assert (await served.admin.get(f"/events?{DAY}&severity=FATAL")).status == 400
    assert (await served.admin.get("/events?state=OPENED")).status == 400


async def test_what_waits_of_many_devices_is_of_any_age(served, database):
    """Read in steps, of which the first begins at the present."""
    numbers = [await served.device(served.admin, str(number)) for number in range(FEW_DEVICES + 2)]
    years = [-100, -10, -1, 0, 500]
    ids = [
        await happen(database, numbers[index], minutes=each * 365 * 24 * 60)
        for index, each in enumerate(years)
    ]

    async def listed(query):
        answer = await served.admin.get(f"/events?state=OPEN{query}")
        assert answer.status == 200, answer.text
        return [each["id"] for each in answer.json()]

    assert await listed("") == ids[::-1]
    assert await listed("&limit=3") == ids[:1:-1]
    assert await listed("&from=0001-01-01T00:00:00Z") == ids[::-1]
    assert await listed("&from=0001-01-01T00:00:00Z&to=0001-01-01T00:00:00Z") == []


async def test_what_waits_is_found_by_its_index_alone(database):
    """However many events there are: 100,000 of ten devices, of which one in thousand waits."""
    await database.execute(
        "insert into events (id, type, event_time, device_id, severity, review)"
        " select n, 'alarm', $1::timestamptz + n * interval '1 second', n % 10, 'WARNING',"
        " jsonb_build_object('state', case n % 1000 when 0 then 'OPEN' else 'ACKNOWLEDGED' end)"
        " from generate_series(1, 100000) n",
        NOON,
    )
    await database.execute("analyze events")
    rows = await database.fetch(
        f"explain (format text) {event_lists._OPEN}",
        list(range(10_000)),
        datetime(1900, 1, 1, tzinfo=UTC),
        datetime(9999, 1, 1, tzinfo=UTC),
        2**63 - 1,
        [],
        [],
        None,
        None,
        1000,
        [],
    )
    plan = "\n".join(row[0] for row in rows)
    assert "events_open" in plan, plan
    assert "Seq Scan on events" not in plan, plan


async def test_others_see_a_review_only_with_access_and_history(served, database, van):
    ann, ben = await served.user("ann"), await served.user("ben", disableReports=True)
    guest = await served.user("cid", readonly=True)
    for each in (ben, guest):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": van})
    number = await happen(database, van)
    for client in (ann, ben, guest):
        answer = await client.put(f"/events/{number}/review", json={"state": "DISMISSED"})
        assert answer.status == 400
    assert (await guest.get(f"/events/{number}")).json()["review"]["state"] == "OPEN"


async def test_a_review_is_told_at_once(served, database, van):
    told = []
    served.context.system.topic(REVIEWS).listen(told.append)
    number = await happen(database, van)
    await served.admin.put(f"/events/{number}/review", json={"state": "ACKNOWLEDGED"})
    (changed,) = told
    assert isinstance(changed, ReviewsChanged)
    assert [(each.id, each.review.state) for each in changed.events] == [(number, "ACKNOWLEDGED")]


@on_one_server("path", ["/devices", "/groups", "/server"])
async def test_a_severity_that_is_none_is_refused_where_it_is_stored(served, path):
    key = "event.severity.alarm.sos"
    record = (
        (await served.admin.get("/server")).json() if path == "/server" else {"name": "x", "uniqueId": "1"}
    )
    send = served.admin.put if path == "/server" else served.admin.post
    answer = await send(path, json=record | {"attributes": {key: "HIGH"}})
    assert (answer.status, answer.text) == (400, f"attributes.{key}: is none of CRITICAL, WARNING, INFO")
    assert (await send(path, json=record | {"attributes": {key: "INFO"}})).status == 200

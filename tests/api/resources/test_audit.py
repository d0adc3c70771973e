from datetime import timedelta

from motorpool.storage.accounts import audit
from motorpool.storage.records import AuditAction

SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-03T00:00:00Z"


async def test_what_was_done_is_told_in_order_with_who_and_from_where(served):
    number = await served.device(served.admin, "1")
    answer = await served.admin.get(f"/audit?{SPAN}")
    assert answer.status == 200
    created = answer.json()[-1]
    assert created == {
        "id": created["id"],
        "actionTime": created["actionTime"],
        "address": "127.0.0.1",
        "userId": served.admin_id,
        "userEmail": "admin@example.org",
        "actionType": "create",
        "objectType": "device",
        "objectId": number,
        "attributes": {"uniqueId": {"after": "1"}},
    }
    assert created["actionTime"].startswith("2026-05-01T12:00:0")
    times = [action["actionTime"] for action in answer.json()]
    assert times == sorted(times)


async def test_a_long_log_comes_whole_though_many_acts_have_one_time(served, database):
    start = served.clock.now() + timedelta(hours=1)
    for number in range(2300):
        action = AuditAction(
            action_time=start + timedelta(seconds=number // 700), action_type="edit", object_id=number
        )
        await audit.record(database, action)
    answer = await served.admin.get(f"/audit?from={(start.isoformat()[:19])}Z&to=2026-05-03T00:00:00Z")
    told = [action["objectId"] for action in answer.json() if action["actionType"] == "edit"]
    assert told == list(range(2300))


async def test_pages_come_the_newest_first_by_who_did_what_to_what(served, database):
    start = served.clock.now() + timedelta(hours=1)
    for number in range(10):
        action = AuditAction(
            action_time=start + timedelta(seconds=number // 4),
            action_type="edit" if number % 2 else "create",
            user_id=number % 3,
            object_type="device" if number < 8 else None,
            object_id=number % 4,
        )
        await audit.record(database, action)
    span = f"from={(start.isoformat()[:19])}Z&to=2026-05-03T00:00:00Z"

    async def page(query):
        answer = await served.admin.get(f"/audit?{span}&{query}")
        assert answer.status == 200, answer.text
        return answer.json()

    everything = await page("limit=0")
    first = everything[0]["id"] - 9
    ids = [each["id"] - first for each in everything]
    assert ids == list(range(9, -1, -1))
    below = []
    last = ""
    while found := await page(f"limit=3{last}"):
        below += [each["id"] - first for each in found]
        last = f"&beforeId={found[-1]['id']}"
    assert below == ids
    for query, wanted in (
        ("userId=1", [7, 4, 1]),
        ("userId=0", [9, 6, 3, 0]),
        ("actionType=edit&userId=1", [7, 1]),
        ("actionType=edit&actionType=create", ids),
        ("actionType=none", []),
        ("objectType=device&objectId=2", [6, 2]),
        ("beforeId=4711000", []),
    ):
        assert [each["id"] - first for each in await page(f"limit=100&{query}")] == wanted, query
    for query, text in (
        ("userId=1", "limit: is needed with what the actions are chosen by"),
        ("limit=1&objectId=2", "objectId: needs objectType"),
        ("limit=1" + "&actionType=x" * 21, "actionType: at most 20 types"),
    ):
        answer = await served.admin.get(f"/audit?{SPAN}&{query}")
        assert (answer.status, answer.text) == (400, text)
    assert (await served.admin.get(f"/audit?{SPAN}&limit=1001")).status == 400


async def test_the_log_is_for_administrators_and_needs_a_span(served):
    ann = await served.user("ann")
    assert (await ann.get(f"/audit?{SPAN}")).status == 401
    assert (await served.client().get(f"/audit?{SPAN}")).status == 401
    for query in ("", "?from=2026-05-01T00:00:00Z", "?to=2026-05-01T00:00:00Z", "?from=x&to=y"):
        assert (await served.admin.get(f"/audit{query}")).status == 400

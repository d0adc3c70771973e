from datetime import UTC, datetime

import trio
from tests.api.conftest import NOON

from motorpool.actors.upkeep.statistics import STATISTICS, SaveNow
from motorpool.storage.upkeep import statistics

WAITING = """
    select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
"""
SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-03T00:00:00Z"


async def test_today_stands_as_it_is_at_the_moment(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    before = (await served.admin.get(f"/statistics?{SPAN}")).json()[0]["requests"]
    await served.report(served.position(number), served.position(number))
    for _ in range(3):
        assert (await ann.get("/devices")).status == 200
    assert (await served.client().get("/server")).status == 200
    answer = await served.admin.get(f"/statistics?{SPAN}&refresh=true")
    assert answer.status == 200
    (day,) = answer.json()
    assert day["requests"] == before + 4
    assert day["activeUsers"] == 2
    assert (day["activeDevices"], day["messagesStored"], day["protocols"]) == (1, 2, {"jt808": 1})
    for field in ("id", "captureTime", "messagesReceived", "mailSent", "smsSent", "geocoderRequests"):
        assert field in day
    assert day["geolocationRequests"] == 0
    assert day["attributes"] == {}


async def test_a_span_holds_the_days_captured_in_it(served):
    await served.admin.get(f"/statistics?{SPAN}")
    served.clock.set_wall(datetime(2026, 5, 3, 8, tzinfo=UTC))
    whole = "from=2026-05-01T00:00:00Z&to=2026-05-04T00:00:00Z"
    found = (await served.admin.get(f"/statistics?{whole}")).json()
    assert [day["captureTime"][:10] for day in found] == ["2026-05-01", "2026-05-03"]
    assert len((await served.admin.get(f"/statistics?{SPAN}")).json()) == 1


async def test_statistics_are_for_administrators_and_need_a_span(served):
    ann = await served.user("ann")
    assert (await ann.get(f"/statistics?{SPAN}")).status == 400
    assert (await served.client().get(f"/statistics?{SPAN}")).status == 401
    for query in ("", "?from=2026-05-01T00:00:00Z", "?from=x&to=y"):
        assert (await served.admin.get(f"/statistics{query}")).status == 400


async def test_statistics_are_answered_while_their_counts_are_being_saved(served, database):
    counting = served.context.system.ref(STATISTICS)
    await counting.ask(SaveNow())
    number = await served.device(served.admin, "1")
    await served.report(served.position(number))
    async with trio.open_nursery() as nursery, database.transaction() as transaction:
        await transaction.execute("lock table statistics in exclusive mode")
        nursery.start_soon(counting.ask, SaveNow())
        while not await database.fetch_value(WAITING):  # noqa: ASYNC110 - the database notifies nobody
            await trio.sleep(0.01)
        counts = []
        for _ in range(2):
            answer = await served.admin.get(f"/statistics?{SPAN}")
            assert answer.status == 200
            (day,) = answer.json()
            assert (day["activeUsers"], day["activeDevices"], day["protocols"]) == (1, 1, {"jt808": 1})
            counts.append(day["requests"])
        assert counts[1] == counts[0] + 1
    await counting.ask(SaveNow())
    (row,) = await statistics.between(database, NOON, NOON.replace(day=2))
    (day,) = (await served.admin.get(f"/statistics?{SPAN}")).json()
    assert (row.requests + 1, row.active_devices) == (day["requests"], day["activeDevices"])
    assert row.id == day["id"] > 0

from datetime import UTC, datetime

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

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import trio
import trio_websocket

from motorpool.actors.upkeep.settings import PositionSettings

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def drive(served, number, count=5):
    return await served.report(
        *(served.position(number, NOON + timedelta(minutes=minute)) for minute in range(count))
    )


def ids(answer):
    assert answer.status == 200, answer.text
    return [found["id"] for found in answer.json()]


async def test_without_parameters_the_latest_of_each_device_of_ones_own(served):
    ann = await served.user("ann")
    first, second = [await served.device(served.admin, number) for number in "12"]
    await served.device(served.admin, "3")
    driven = await drive(served, first)
    (other,) = await served.report(served.position(second))
    assert ids(await served.admin.get("/positions")) == [driven[-1].id, other.id]
    assert ids(await ann.get("/positions")) == []
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": second})
    assert ids(await ann.get("/positions")) == [other.id]


async def test_a_position_has_all_its_fields(served):
    number = await served.device(served.admin, "1")
    (stored,) = await served.report(
        served.position(
            number, NOON + timedelta(milliseconds=250), altitude=3.5, attributes={"ignition": True}
        )
    )
    (shown,) = (await served.admin.get("/positions")).json()
    assert shown == {
        "id": stored.id,
        "deviceId": number,
        "protocol": "jt808",
        "serverTime": "2026-05-01T12:00:00.250Z",
        "deviceTime": "2026-05-01T12:00:00.250Z",
        "fixTime": "2026-05-01T12:00:00.250Z",
        "outdated": False,
        "valid": True,
        "latitude": 52.5,
        "longitude": 13.4,
        "altitude": 3.5,
        "speed": 10.0,
        "course": 0.0,
        "address": None,
        "accuracy": 0.0,
        "network": None,
        "geofenceIds": None,
        "attributes": {"ignition": True},
    }


async def test_a_span_is_by_fix_time_with_both_ends(served):
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    span = f"/positions?deviceId={number}&from=2026-05-01T12:01:00Z&to={quote('2026-05-01T14:03:00+02:00')}"
    assert ids(await served.admin.get(span)) == [found.id for found in driven[1:4]]
    empty = f"/positions?deviceId={number}&from=2025-05-01T12:01:00Z&to=2025-05-01T12:03:00Z"
    assert ids(await served.admin.get(empty)) == []


async def test_a_long_span_comes_whole(served):
    number = await served.device(served.admin, "1")
    driven = await served.report(*(served.position(number, NOON + timedelta(seconds=n)) for n in range(2300)))
    span = f"/positions?deviceId={number}&from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    assert ids(await served.admin.get(span)) == [found.id for found in driven]


async def test_half_a_question_is_400(served):
    for query in [
        "?deviceId=1",
        "?deviceId=1&from=2026-05-01T12:00:00Z",
        "?from=2026-05-01T12:00:00Z",
        "?deviceId=1&from=2026-05-01T12:00:00&to=2026-05-01T12:00:00Z",
        "?deviceId=x&from=a&to=b",
        "?id=x",
    ]:
        assert (await served.admin.get(f"/positions{query}")).status == 400


async def test_a_cap_by_setting_refuses_and_cuts_nothing(starting):
    async with starting(positions=PositionSettings(most=3)) as served:
        number = await served.device(served.admin, "1")
        await drive(served, number, 4)
        span = f"/positions?deviceId={number}&from=2026-05-01T12:00:00Z&to=2026-05-01T12:0"
        assert len(ids(await served.admin.get(span + "2:00Z"))) == 3
        assert (await served.admin.get(span + "3:00Z")).status == 400


async def test_by_ids_in_the_order_asked_and_404_where_one_is_not_ones_own(served):
    ann = await served.user("ann")
    first, second = [await served.device(served.admin, number) for number in "12"]
    driven = await drive(served, first, 3)
    (other,) = await served.report(served.position(second))
    asked = f"/positions?id={driven[2].id}&id={driven[0].id}"
    assert ids(await served.admin.get(asked)) == [driven[2].id, driven[0].id]
    assert (await served.admin.get(asked + "&id=999999")).status == 404
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": first})
    assert ids(await ann.get(asked)) == [driven[2].id, driven[0].id]
    assert (await ann.get(asked + f"&id={other.id}")).status == 404


SPAN = "&from=2026-05-01T12:00:00Z&to=2026-05-02T12:00:00Z"


async def geofence(client, area):
    return (await client.post("/geofences", json={"name": "Yard", "area": area})).json()["id"]


async def test_a_span_within_a_geofence_holds_what_is_inside(served):
    number = await served.device(served.admin, "1")
    driven = await served.report(
        *(
            served.position(
                number, NOON + timedelta(seconds=n), latitude=52 + n / 1000, altitude=float(n % 7)
            )
            for n in range(2300)
        )
    )
    asked = f"/positions?deviceId={number}{SPAN}&geofenceId="
    ring = await geofence(
        served.admin,
        "POLYGON ((51 13, 53.5 13, 53.5 14, 51 14), (52.0995 13, 53.0005 13, 53.0005 14, 52.0995 14))",
    )
    inside = [found.id for n, found in enumerate(driven) if n < 100 or 1000 < n < 1500]
    assert ids(await served.admin.get(asked + str(ring))) == inside
    away = await geofence(served.admin, "CIRCLE (1 1, 10)")
    assert ids(await served.admin.get(asked + str(away))) == []
    low = {"name": "Low", "area": "CIRCLE (52 13.4, 1000)", "attributes": {"ceiling": 3}}
    low_id = (await served.admin.post("/geofences", json=low)).json()["id"]
    wanted = [found.id for n, found in enumerate(driven[:9]) if n % 7 <= 3]
    assert ids(await served.admin.get(asked + str(low_id))) == wanted
    csv = await served.admin.get(asked.replace("/positions", "/positions/csv") + str(low_id))
    assert [int(line.split(",")[0]) for line in csv.text.splitlines()[1:]] == wanted
    empty = await served.admin.get(asked.replace("/positions", "/positions/gpx") + str(away))
    assert empty.status == 200
    assert "trkpt" not in empty.text


async def test_a_geofence_that_is_unknown_or_of_others_is_404(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    yard = await geofence(served.admin, "CIRCLE (52.5 13.4, 10)")
    for path in ("/positions", "/positions/kml", "/positions/csv"):
        asked = f"{path}?deviceId={number}{SPAN}&geofenceId="
        assert (await ann.get(asked + str(yard))).status == 404
        assert (await ann.get(asked + "99")).status == 404
        assert (await ann.get(asked + str(10**30))).status in {400, 404}
    assert (await ann.get(f"/positions?geofenceId={yard}")).status == 400
    assert (await ann.get(f"/positions?deviceId={number}&geofenceId={yard}")).status == 400
    await served.admin.post("/permissions", json={"userId": ann.id, "geofenceId": yard})
    assert ids(await ann.get(f"/positions?deviceId={number}{SPAN}&geofenceId={yard}")) == []


async def test_history_is_refused_to_who_has_no_reports_but_the_latest_stays(served):
    ann = await served.user("ann", disableReports=True)
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert ids(await ann.get("/positions")) == [driven[-1].id]
    assert (await ann.get(f"/positions?id={driven[0].id}")).status == 400
    span = f"/positions?deviceId={number}&from=2026-05-01T12:00:00Z&to=2026-05-01T13:00:00Z"
    assert (await ann.get(span)).status == 400


async def test_a_device_of_others_is_404_to_read_and_400_to_write(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    span = f"/positions?deviceId={number}&from=2026-05-01T12:00:00Z&to=2026-05-01T13:00:00Z"
    assert (await ann.get(span)).status == 404
    assert (await ann.delete(span)).status == 400


async def test_after_a_delete_the_newest_that_remains_is_the_latest(served):
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    assert (await served.admin.delete(f"/positions/{driven[-1].id}")).status == 204
    assert (await served.admin.delete(f"/positions/{driven[-1].id}")).status == 404
    assert ids(await served.admin.get("/positions")) == [driven[-2].id]
    assert (await served.admin.get(f"/devices/{number}")).json()["positionId"] == driven[-2].id
    span = f"/positions?deviceId={number}&from=2026-05-01T12:01:00Z&to=2026-05-01T13:00:00Z"
    assert (await served.admin.delete(span)).status == 204
    assert ids(await served.admin.get("/positions")) == [driven[0].id]


async def test_after_a_delete_one_where_the_vehicle_cannot_be_is_not_the_latest(served):
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    doubted = served.position(number, driven[-1].fix_time, attributes={"implausible": True})
    await served.report(doubted)
    assert ids(await served.admin.get("/positions")) == [driven[-1].id]
    assert (await served.admin.delete(f"/positions/{driven[-1].id}")).status == 204
    assert ids(await served.admin.get("/positions")) == [driven[-2].id]


async def test_the_readonly_delete_no_positions(served):
    ann = await served.user("ann", readonly=True)
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    assert (await ann.delete(f"/positions/{driven[0].id}")).status == 400
    span = f"/positions?deviceId={number}&from=2026-05-01T12:01:00Z&to=2026-05-01T13:00:00Z"
    assert (await ann.delete(span)).status == 400
    assert (await served.admin.delete(f"/positions?deviceId={number}")).status == 400


async def test_open_sockets_learn_which_position_is_the_latest_again(starting):
    async with starting(listen=True) as served:
        number = await served.device(served.admin, "1")
        driven = await drive(served, number, 3)
        headers = [("Cookie", f"JSESSIONID={served.cookie(served.admin)}")]
        url = f"ws://127.0.0.1:{served.port}/api/socket"
        with trio.fail_after(120):
            async with trio_websocket.open_websocket_url(url, extra_headers=headers) as socket:
                (first,) = json.loads(await socket.get_message())["positions"]
                assert first["id"] == driven[2].id
                assert (await served.admin.delete(f"/positions/{driven[2].id}")).status == 204
                told = {}
                while not {"positions", "devices"} <= set(told):
                    told |= json.loads(await socket.get_message())
        assert [position["id"] for position in told["positions"]] == [driven[1].id]
        assert [device["positionId"] for device in told["devices"]] == [driven[1].id]


async def test_when_all_are_deleted_there_is_no_latest_and_what_comes_next_is(served):
    number = await served.device(served.admin, "1")
    await drive(served, number)
    span = f"/positions?deviceId={number}&from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
    assert (await served.admin.delete(span)).status == 204
    assert ids(await served.admin.get("/positions")) == []
    assert (await served.admin.get(f"/devices/{number}")).json()["positionId"] == 0
    # An earlier place than those that are gone is the latest now.
    (early,) = await served.report(served.position(number, NOON - timedelta(hours=5)))
    assert ids(await served.admin.get("/positions")) == [early.id]


async def test_a_delete_is_noted_and_one_without_a_span_or_of_nothing_is_refused(served):
    number = await served.device(served.admin, "1")
    driven = await drive(served, number)
    assert (await served.admin.delete("/positions/999999")).status == 404
    for query in ("", f"?deviceId={number}&from=2026-05-01T00:00:00Z", "?from=x&to=y&deviceId=1"):
        assert (await served.admin.delete(f"/positions{query}")).status == 400
    assert (await served.client().delete(f"/positions/{driven[0].id}")).status == 401
    assert (await served.admin.delete(f"/positions/{driven[0].id}")).status == 204
    audit = (await served.admin.get("/audit?from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z")).json()
    assert (audit[-1]["actionType"], audit[-1]["objectType"], audit[-1]["objectId"]) == (
        "remove",
        "position",
        driven[0].id,
    )

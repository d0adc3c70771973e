import base64
import gc
import json
import struct
import zlib
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
import trio
import trio.testing
from hypercorn.protocol.ws_stream import WebsocketBuffer
from tests.api.cases import on_one_server
from trio_websocket import open_websocket_url

from motorpool.actors.messages.conditions import CLOCK, DISK
from motorpool.actors.messages.topics import (
    DEVICE_TRAFFIC,
    DEVICES,
    REVIEWS,
    WEB_EVENTS,
    DeviceStatus,
    DeviceTraffic,
    ReviewsChanged,
    ReviewsLost,
    WebEvent,
)
from motorpool.api.http import server as http_server
from motorpool.api.http.tcp_server import HttpConnection
from motorpool.api.logins import authentication
from motorpool.api.logins.authentication import authenticate
from motorpool.api.settings import HttpSettings
from motorpool.api.sockets import live_updates
from motorpool.api.sockets.live_updates import MAX_PENDING_EVENTS, LiveUpdates
from motorpool.api.sockets.record_updates import MAX_PENDING
from motorpool.storage.errors import StorageUnavailable
from motorpool.storage.records import Event, Review

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def served(starting: Callable):
    async with starting(listen=True) as running:
        yield running


@pytest.fixture
def running_clock(mock_clock):
    """The virtual clock goes on as the real one does, unless the test moves it."""
    mock_clock.rate = 1.0


def connect(served, cookie: str = "", *, query: str = "", origin: str = ""):
    headers = [("Cookie", f"JSESSIONID={cookie}")] if cookie else []
    if origin:
        headers.append(("Origin", origin))
    return open_websocket_url(f"ws://127.0.0.1:{served.port}/api/socket{query}", extra_headers=headers)


@asynccontextmanager
async def shake_hands(served, cookie: str = "", *, query: str = "", origin: str = "", headers=None):
    """The handshake by hand: the stream, and the status that was answered."""
    lines = [
        f"GET /api/socket{query} HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *([f"Cookie: JSESSIONID={cookie}"] if cookie else []),
        *([f"Origin: {origin}"] if origin else []),
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    async with await trio.open_tcp_stream("127.0.0.1", served.port) as stream:
        await stream.send_all("\r\n".join([*lines, "", ""]).encode())
        with trio.fail_after(30):
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += await stream.receive_some(1)  # the first frame may follow at once
        yield stream, int(answer.split()[1])


async def read_all(stream) -> bytes:
    received = b""
    with trio.fail_after(30):
        while part := await stream.receive_some():
            received += part
    return received


async def receive(socket) -> dict:
    with trio.fail_after(30):
        return json.loads(await socket.get_message())


async def until(condition: Callable) -> None:
    with trio.fail_after(30):
        while not condition():  # noqa: ASYNC110 - a topic has no event for this
            await trio.sleep(0.01)


async def receive_until(socket, key: str, found: Callable) -> object:
    """The first value under the key that is the one waited for."""
    with trio.fail_after(30):
        while True:
            for value in (await receive(socket)).get(key, ()):
                if found(value):
                    return value


async def test_administrators_are_told_what_is_wrong_with_the_server(served):
    conditions = served.context.system.conditions
    ann = await served.user("ann")
    conditions.enter(DISK, "12 MiB are free at /data")
    async with (
        connect(served, served.cookie(served.admin)) as hers,
        connect(served, served.cookie(ann)) as his,
    ):
        first = await receive(hers)
        assert first["conditions"] == [
            {
                "name": "disk",
                "since": first["conditions"][0]["since"],
                "text": "the disk of the server is nearly full",
                "cause": "12 MiB are free at /data",
            }
        ]
        assert "conditions" not in await receive(his)
        conditions.enter(CLOCK, "set back by 60 s")
        assert await receive_until(hers, "conditions", lambda found: found["name"] == "clock")
        conditions.leave(DISK)
        conditions.leave(CLOCK)
        while (await receive(hers)).get("conditions") != []:
            pass
        number = await served.device(served.admin, "1")
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
        await served.report(served.position(number))
        message = await receive(his)
        assert "conditions" not in message


async def fail() -> None:
    raise StorageUnavailable("the server is restarting")


@pytest.mark.parametrize("outcome", [fail, trio.sleep_forever])
async def test_a_socket_stays_and_is_told_why_while_devices_cannot_be_read(starting, monkeypatch, outcome):
    monkeypatch.setattr(live_updates, "READ_SECONDS", 0.1)
    async with starting(listen=True, http=HttpSettings(socket_keepalive_seconds=1)) as served:
        number = await served.device(served.admin, "1")
        async with connect(served, served.cookie(served.admin)) as socket:
            await receive(socket)
            database = type(served.context.database)
            with monkeypatch.context() as patches:

                async def away(*_: object) -> None:
                    await outcome()

                patches.setattr(database, "fetch", away)
                served.context.devices.clear()
                online = DeviceStatus(number, "online", None, 0)
                served.context.system.topic(DEVICES).publish((online,))
                served.context.system.conditions.enter(DISK, "0 MiB are free at /data")
                assert await receive_until(socket, "conditions", lambda found: found["name"] == "disk")
            # What could not be read is sent once it can be.
            assert await receive_until(socket, "devices", lambda found: found["status"] == "online")


async def test_a_new_socket_of_a_server_that_is_well_is_told_nothing(served):
    async with connect(served, served.cookie(served.admin)) as socket:
        assert "conditions" not in await receive(socket)


async def test_first_come_the_latest_positions_then_what_changes(served):
    number = await served.device(served.admin, "1")
    (before,) = await served.report(served.position(number))
    async with connect(served, served.cookie(served.admin)) as socket:
        first = await receive(socket)
        assert [found["id"] for found in first["positions"]] == [before.id]
        assert "devices" not in first
        (after,) = await served.report(served.position(number, NOON + timedelta(seconds=10)))
        seen = await receive_until(socket, "positions", lambda found: found["id"] == after.id)
        assert seen["fixTime"] == "2026-05-01T12:00:10Z"
        (later,) = await served.report(served.position(number, NOON + timedelta(seconds=20)))
        device = await receive_until(socket, "devices", lambda found: found["positionId"] == later.id)
        assert device["uniqueId"] == "1"
        assert device["lastUpdate"] == "2026-05-01T12:00:20Z"


async def test_a_position_where_the_vehicle_cannot_be_is_not_shown(served):
    number = await served.device(served.admin, "1")
    (before,) = await served.report(served.position(number))
    async with connect(served, served.cookie(served.admin)) as socket:
        assert [found["id"] for found in (await receive(socket))["positions"]] == [before.id]
        doubted = served.position(number, NOON + timedelta(seconds=10), attributes={"implausible": True})
        await served.report(doubted)
        # That the device has reported is.
        device = await receive_until(socket, "devices", lambda found: found["id"] == number)
        assert (device["positionId"], device["lastUpdate"]) == (before.id, "2026-05-01T12:00:10Z")
        (after,) = await served.report(served.position(number, NOON + timedelta(seconds=20)))
        shown = await receive_until(socket, "positions", lambda found: found["id"] != before.id)
        assert shown["id"] == after.id


async def test_nobody_gets_devices_that_they_may_not_see(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    mine = await served.device(served.admin, "2")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": mine})
    async with connect(served, served.cookie(ann)) as socket:
        assert await receive(socket) == {"positions": []}
        await served.report(served.position(number))
        (own,) = await served.report(served.position(mine))
        with trio.fail_after(30):
            while True:
                message = await receive(socket)
                for value in (*message.get("positions", ()), *message.get("devices", ())):
                    assert value.get("deviceId", value["id"]) == mine
                if any(value["id"] == own.id for value in message.get("positions", ())):
                    break


def web_event(*user_ids, device_id=0, kind="deviceOverspeed", **attributes):
    event = Event(id=7, type=kind, event_time=NOON, device_id=device_id, attributes=attributes)
    return WebEvent(frozenset(user_ids), event)


async def test_events_reach_the_users_they_are_for_in_order_and_nobody_else(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    mine, other = await served.device(served.admin, "1"), await served.device(served.admin, "2")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": mine})
    topic = served.context.system.topic(WEB_EVENTS)
    async with connect(served, served.cookie(ann)) as hers, connect(served, served.cookie(ben)) as his:
        assert await receive(hers) == await receive(his) == {"positions": []}
        topic.publish(web_event(ann.id, device_id=other, message="not hers to see"))
        topic.publish(web_event(ann.id, device_id=mine, message="1"))
        topic.publish(web_event(ann.id, ben.id, kind="announcement", message="2"))
        assert await receive(his) == {"events": [shown("announcement", 0, "2")]}
        received = []
        while len(received) < 2:
            received += (await receive(hers))["events"]
        assert received == [shown("deviceOverspeed", mine, "1"), shown("announcement", 0, "2")]


def shown(kind, device_id, message):
    return {
        "id": 7,
        "type": kind,
        "eventTime": "2026-05-01T12:00:00Z",
        "deviceId": device_id,
        "positionId": 0,
        "geofenceId": 0,
        "maintenanceId": 0,
        "attributes": {"message": message},
        "severity": None,
        "review": None,
    }


def reviewed(number, device_id, version=1, **fields):
    state = "OPEN" if version == 1 else "ACKNOWLEDGED"
    return Event(
        id=number,
        type="alarm",
        event_time=NOON,
        device_id=device_id,
        review=Review(state, version=version),
        **fields,
    )


async def test_reviews_reach_those_who_may_read_the_events_and_nobody_else(served):
    ann, ben = await served.user("ann"), await served.user("ben", disableReports=True)
    mine, other = await served.device(served.admin, "1"), await served.device(served.admin, "2")
    for each in (ann, ben):
        await served.admin.post("/permissions", json={"userId": each.id, "deviceId": mine})
    topic = served.context.system.topic(REVIEWS)
    async with connect(served, served.cookie(ann)) as hers, connect(served, served.cookie(ben)) as his:
        assert await receive(hers) == await receive(his) == {"positions": []}
        # Of two commits the later one may be told first.
        topic.publish(ReviewsChanged((reviewed(1, mine, 2), reviewed(2, other))))
        topic.publish(ReviewsChanged((reviewed(1, mine, 1),)))
        # As in lists, what is about a geofence or maintenance of others is not told.
        topic.publish(ReviewsChanged((reviewed(3, mine, geofence_id=1), reviewed(4, mine, maintenance_id=1))))
        (told,) = (await receive(hers))["reviews"]
        assert (told["id"], told["deviceId"], told["review"]["version"]) == (1, mine, 2)
        for message in ("1", "2"):
            served.context.system.topic(WEB_EVENTS).publish(web_event(ann.id, ben.id, message=message))
            assert "reviews" not in await receive(his)


@pytest.mark.parametrize("lost", [True, False])
async def test_of_more_reviews_than_wait_for_a_client_it_asks_itself(served, lost):
    van = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": served.admin_id, "deviceId": van})
    topic = served.context.system.topic(REVIEWS)
    async with connect(served, served.cookie(served.admin)) as socket:
        await receive(socket)
        many = tuple(reviewed(number, van) for number in range(1, MAX_PENDING + 2))
        topic.publish(ReviewsLost() if lost else ReviewsChanged(many))
        assert (await receive(socket))["reviews"] == []
        topic.publish(ReviewsChanged((reviewed(1, van, 2),)))
        assert [each["id"] for each in (await receive(socket))["reviews"]] == [1]


async def test_events_do_not_wait_for_the_pause_between_two_messages(served, monkeypatch):
    monkeypatch.setattr(live_updates, "PAUSE_SECONDS", 3600.0)
    moving, parked = await served.device(served.admin, "1"), await served.device(served.admin, "2")
    topic = served.context.system.topic(WEB_EVENTS)
    async with connect(served, served.cookie(served.admin)) as socket:
        assert await receive(socket) == {"positions": []}
        for second in (1, 2):
            later = NOON + timedelta(seconds=second)
            await served.report(served.position(parked, later))
            (stored,) = await served.report(served.position(moving, later))
            await trio.testing.wait_all_tasks_blocked(0.01)
            topic.publish(web_event(1, device_id=moving, message=str(second)))
            message = await receive(socket)
            assert message["events"] == [shown("deviceOverspeed", moving, str(second))]
            # The position of an event comes with it, those of other devices with the next message.
            assert [found["id"] for found in message["positions"]] == [stored.id]
            assert {found["id"] for found in message.get("devices", ())} <= {moving}


async def test_a_pause_sends_no_events_after_the_session_has_ended(served, identifications, monkeypatch):
    monkeypatch.setattr(live_updates, "PAUSE_SECONDS", 3600.0)
    ann = await served.user("ann")
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    async with shake_hands(served, served.cookie(ann)) as (stream, status):
        assert status == 101
        await trio.testing.wait_all_tasks_blocked(0.05)
        await served.admin.put(f"/users/{ann.id}", json={**user, "disabled": True})
        with trio.fail_after(30):
            while identifications[-1] is not None:
                await trio.testing.wait_all_tasks_blocked(0.01)
        served.context.system.topic(WEB_EVENTS).publish(web_event(ann.id, message="late"))
        received = await read_all(stream)
    assert b"late" not in received
    assert received.endswith(CLOSED)


async def test_a_client_so_slow_that_events_would_be_lost_is_asked_to_connect_again(served):
    ann = await served.user("ann")
    async with shake_hands(served, served.cookie(ann)) as (stream, status):
        assert status == 101
        # More at once than wait for one client.
        for number in range(MAX_PENDING_EVENTS + 1):
            served.context.system.topic(WEB_EVENTS).publish(web_event(ann.id, message=str(number)))
        assert (await read_all(stream)).endswith(b"\x88\x02\x03\xf5")


async def test_links_made_and_undone_take_effect_on_open_sockets(served):
    ann = await served.user("ann")
    number = await served.device(served.admin, "1")
    (known,) = await served.report(served.position(number))
    link = {"userId": ann.id, "deviceId": number}
    async with connect(served, served.cookie(ann)) as socket:
        assert await receive(socket) == {"positions": []}
        await served.admin.post("/permissions", json=link)
        await receive_until(socket, "positions", lambda found: found["id"] == known.id)
        await served.admin.delete("/permissions", json=link)
        mine = await served.device(served.admin, "2")
        await served.report(served.position(number, NOON + timedelta(seconds=1)))
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": mine})
        (own,) = await served.report(served.position(mine))
        with trio.fail_after(30):
            while True:
                found = (await receive(socket)).get("positions", ())
                assert all(value["deviceId"] == mine for value in found)
                if any(value["id"] == own.id for value in found):
                    break


async def test_an_edited_row_is_pushed_to_those_who_see_the_device_and_to_nobody_else(served):
    ann = await served.user("ann")
    mine, other = await served.device(served.admin, "1"), await served.device(served.admin, "2")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": mine})
    async with connect(served, served.cookie(ann)) as socket:
        assert await receive(socket) == {"positions": []}
        for number in (other, mine):
            row = (await served.admin.get(f"/devices/{number}")).json()
            changed = {**row, "name": "Renamed", "attributes": {"colour": "red"}}
            assert (await served.admin.put(f"/devices/{number}", json=changed)).status == 200
        (pushed,) = (await receive(socket))["devices"]
        assert (pushed["id"], pushed["name"], pushed["attributes"]) == (mine, "Renamed", {"colour": "red"})


@pytest.fixture
def identifications(monkeypatch):
    """The callers that sockets have identified, in order: None, or the user's id."""
    found = []

    async def counted(*asked):
        caller = await authenticate(*asked)
        found.append(caller and caller.id)
        return caller

    monkeypatch.setattr(authentication, "authenticate", counted)
    return found


async def test_a_change_makes_only_the_sockets_of_its_user_identify_their_caller_again(
    served, identifications
):
    ann, ben = await served.user("ann"), await served.user("ben")
    number = await served.device(served.admin, "1")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": number})
    async with connect(served, served.cookie(ann)) as hers, connect(served, served.cookie(ben)) as his:
        assert await receive(hers) == await receive(his) == {"positions": []}
        assert sorted(identifications) == sorted([ann.id, ben.id])
        identifications.clear()
        row = (await served.admin.get(f"/devices/{number}")).json()
        await served.admin.put(f"/devices/{number}", json={**row, "name": "Renamed"})
        await served.device(served.admin, "2")
        await served.admin.post("/permissions", json={"userId": ben.id, "deviceId": number})
        # What each socket sends next shows that it has followed the changes before.
        await receive_until(hers, "devices", lambda found: found["name"] == "Renamed")
        await receive_until(his, "devices", lambda found: found["name"] == "Renamed")
        assert identifications == []
        user = (await served.admin.get(f"/users/{ann.id}")).json()
        await served.admin.put(f"/users/{ann.id}", json={**user, "name": "Ann"})
        await served.report(served.position(number))
        for socket in (hers, his):
            await receive_until(socket, "positions", lambda found: found["deviceId"] == number)
        with trio.fail_after(30):
            while not identifications:
                await trio.testing.wait_all_tasks_blocked(0.01)
        assert identifications == [ann.id]


async def test_a_token_opens_the_socket_and_a_bad_one_does_not(served):
    token = (await served.admin.post("/session/token", form={})).text
    async with connect(served, query=f"?token={token}") as socket:
        assert await receive(socket) == {"positions": []}
    for query, cookie in (("", ""), ("?token=x", ""), ("", "planted")):
        async with shake_hands(served, cookie, query=query) as (_, status):
            assert status == 401


async def test_a_page_of_another_origin_gets_no_socket(served):
    cookie = served.cookie(served.admin)
    async with shake_hands(served, cookie, origin="https://evil.example") as (_, status):
        assert status == 401
    async with connect(served, cookie, origin=f"http://127.0.0.1:{served.port}") as socket:
        assert await receive(socket) == {"positions": []}


@on_one_server(
    ("headers", "status"),
    [
        ({}, 101),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://behind.an.unnamed.proxy"}, 101),
    ],
)
async def test_a_foreign_page_gets_no_socket_by_a_password_that_the_browser_keeps(served, headers, status):
    basic = "Basic " + base64.b64encode(b"admin@example.org:admin").decode()
    async with shake_hands(served, headers={"Authorization": basic, **headers}) as (_, answered):
        assert answered == status
    token = (await served.admin.post("/session/token")).text
    async with shake_hands(served, headers={"Authorization": f"Bearer {token}", **headers}) as (_, answered):
        assert answered == 101


async def test_an_empty_object_keeps_the_line_alive_and_what_clients_send_is_ignored(starting):
    often = HttpSettings(socket_keepalive_seconds=1)
    async with (
        starting(listen=True, http=often) as served,
        connect(served, served.cookie(served.admin)) as socket,
    ):
        assert await receive(socket) == {"positions": []}
        for text in ("{}", "no json", '{"logs":true}'):
            await socket.send_message(text)
        await socket.send_message(b"\xff\x00")
        await socket.send_message(b"")
        assert await receive(socket) == {}


def connections() -> int:
    gc.collect()
    return sum(isinstance(each, HttpConnection | LiveUpdates) for each in gc.get_objects())


def frame(payload: bytes, *, first: int = 0x81) -> bytes:
    """A frame of a client, masked with zeros."""
    length = len(payload)
    head = (
        struct.pack(">BB", first, 0x80 | length) if length < 126 else struct.pack(">BBH", first, 0xFE, length)
    )
    return head + bytes(4) + payload


@pytest.mark.parametrize(
    "message",
    [
        frame(b"a" * 5000),
        struct.pack(">BBQI", 0x81, 0xFF, 1 << 40, 0) + b"a" * 5000,
        frame(b"a" * 4000, first=0x01) + frame(b"a" * 4000, first=0x00),
    ],
)
async def test_a_message_that_is_too_long_ends_the_connection(served, message):
    async with shake_hands(served, served.cookie(served.admin)) as (stream, status):
        assert status == 101
        await stream.send_all(message)
        assert (await read_all(stream)).endswith(b"\x88\x02" + struct.pack(">H", 1009))
    # Whatever the client sends, which is not kept, and nobody waits for it to close its end.
    with trio.fail_after(30):
        while connections():
            await trio.testing.wait_all_tasks_blocked(0.01)


async def test_a_compressed_message_is_inflated_no_further_than_one_may_be_long(served, monkeypatch):
    lengths = []
    extend = WebsocketBuffer.extend

    def note(self, event):
        lengths.append(len(event.data))
        extend(self, event)

    def packed(data: bytes) -> bytes:
        deflate = zlib.compressobj(9, wbits=-15)
        return frame((deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH))[:-4], first=0xC1)

    monkeypatch.setattr(WebsocketBuffer, "extend", note)
    offer = {"Sec-WebSocket-Extensions": "permessage-deflate"}
    async with shake_hands(served, served.cookie(served.admin), headers=offer) as (stream, status):
        assert status == 101
        await stream.send_all(packed(b"{}") + packed(bytes(4000)) + packed(bytes(1 << 20)))
        await read_all(stream)
    assert lengths[:2] == [2, 4000]
    assert all(length <= 16 * 1024 for length in lengths)


async def test_what_comes_as_a_keep_alive_is_due_is_sent(starting, running_clock, mock_clock, monkeypatch):
    monkeypatch.setattr(live_updates, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(live_updates, "EVENT_PAUSE_SECONDS", 0.0)
    async with (
        starting(listen=True, http=HttpSettings(socket_keepalive_seconds=1)) as served,
        connect(served, served.cookie(served.admin)) as socket,
    ):
        assert await receive(socket) == {"positions": []}
        # Which of the two the sender's task notices first is up to chance.
        for number in range(20):
            await trio.testing.wait_all_tasks_blocked()
            served.context.system.topic(WEB_EVENTS).publish(web_event(served.admin_id, message=str(number)))
            mock_clock.jump(1)
            await receive_until(socket, "events", lambda found: found)


async def test_administrators_see_what_devices_send_while_they_want_it_and_nobody_else(starting):
    async with starting(listen=True, http=HttpSettings(socket_keepalive_seconds=1)) as served:
        ann = await served.user("ann")
        topic = served.context.system.topic(DEVICE_TRAFFIC)
        text = DeviceTraffic("192.0.2.7", "osmand", b"GET /?id=1 HTTP/1.1\r\n", 5, "1")
        binary = DeviceTraffic("192.0.2.8", "jt808", b"\x7e\x01\x00", 0, "013912345678", "not known")
        async with (
            connect(served, served.cookie(ann)) as hers,
            connect(served, served.cookie(served.admin)) as socket,
        ):
            await hers.send_message('{"logs": true}')
            for each in ("x" * 2_000, "[1]", '{"logs": 3}', '{"logs": true}'):
                await socket.send_message(each)
            await until(lambda: topic.is_followed)
            topic.publish(text)
            topic.publish(binary)
            logs = []
            while len(logs) < 2:
                logs += (await receive(socket)).get("logs", [])
            assert logs == [
                {
                    "host": "192.0.2.7",
                    "protocol": "osmand",
                    "uniqueId": "1",
                    "deviceId": 5,
                    "data": "GET /?id=1 HTTP/1.1\r\n",
                },
                {
                    "host": "192.0.2.8",
                    "protocol": "jt808",
                    "uniqueId": "013912345678",
                    "deviceId": 0,
                    "data": "7e0100",
                    "problem": "not known",
                },
            ]
            # Two keep-alives later, the other socket has had nothing of it.
            heard = [await receive(hers) for _ in range(3)]
            assert [message for message in heard if "logs" in message] == []
            await socket.send_message('{"logs": false}')
            await until(lambda: not topic.is_followed)


async def test_those_of_one_device_have_what_was_sent_to_it_and_all_in_hex(starting):
    async with (
        starting(listen=True, http=HttpSettings(socket_keepalive_seconds=1)) as served,
        connect(served, served.cookie(served.admin)) as socket,
    ):
        topic = served.context.system.topic(DEVICE_TRAFFIC)
        await socket.send_message('{"logs": true, "deviceId": 5}')
        await until(lambda: topic.is_followed)
        for number in range(300):  # of a busy fleet
            topic.publish(DeviceTraffic("192.0.2.8", "jt808", b"other", 6, "6"))
            if number == 50:
                topic.publish(DeviceTraffic("192.0.2.7", "osmand", b"abcd", 5, "5"))
        topic.publish(DeviceTraffic("192.0.2.7", "osmand", b"ok", 5, "5", sent=True))
        logs = []
        while len(logs) < 2:
            logs += (await receive(socket)).get("logs", [])
        assert [(each["data"], each["deviceId"], each.get("sent")) for each in logs] == [
            ("61626364", 5, None),
            ("6f6b", 5, True),
        ]
        await socket.send_message('{"logs": true, "deviceId": 6}')

        async def logged(wanted):
            with trio.fail_after(30):
                while True:
                    for each in (5, 6):
                        topic.publish(DeviceTraffic("192.0.2.7", "osmand", b"ok", each, "", sent=True))
                        topic.publish(DeviceTraffic("192.0.2.7", "osmand", b"got", each, ""))
                    found = (await receive(socket)).get("logs", [])
                    seen = {(each["deviceId"], each["data"]) for each in found}
                    if seen and seen <= wanted:
                        return

        await logged({(6, "6f6b"), (6, "676f74")})
        await socket.send_message('{"logs": true}')
        await logged({(5, "got"), (6, "got")})


async def test_who_loses_the_role_sees_no_more_traffic_and_unknown_devices_are_a_setting(starting):
    async with starting(listen=True, http=HttpSettings(show_unknown_devices=False)) as served:
        boss = await served.user("boss", administrator=True)
        topic = served.context.system.topic(DEVICE_TRAFFIC)
        async with connect(served, served.cookie(boss)) as socket:
            await socket.send_message('{"logs": true}')
            await until(lambda: topic.is_followed)
            topic.publish(DeviceTraffic("192.0.2.8", "jt808", b"unknown"))
            topic.publish(DeviceTraffic("192.0.2.8", "jt808", b"known", 5, "1"))
            record = await receive_until(socket, "logs", lambda record: True)
            assert record["data"] == "known"
            boss_row = (await served.admin.get(f"/users/{boss.id}")).json()
            demoted = await served.admin.put(f"/users/{boss.id}", json={**boss_row, "administrator": False})
            assert demoted.status == 200
            with trio.fail_after(30):
                while topic.is_followed:
                    topic.publish(DeviceTraffic("192.0.2.8", "jt808", b"secret", 5, "1"))
                    await trio.sleep(0.01)


async def test_the_end_of_the_session_ends_the_socket(served):
    ann = await served.user("ann")
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    async with shake_hands(served, served.cookie(ann)) as (stream, status):
        assert status == 101
        await trio.testing.wait_all_tasks_blocked(0.05)
        await served.admin.put(f"/users/{ann.id}", json={**user, "disabled": True})
        # The last frame: closed, by code 1008, against the rules.
        assert (await read_all(stream)).endswith(b"\x88\x02\x03\xf0")


CLOSED = b"\x88\x02\x03\xf0"
"""The last frame: closed, by code 1008, against the rules."""


async def test_a_busy_socket_ends_when_its_token_expires(served, monkeypatch):
    monkeypatch.setattr("motorpool.api.sockets.live_updates.MAX_SLEEP_SECONDS", 0.3)
    number = await served.device(served.admin, "1")
    token = await served.admin.post("/session/token", form={"expiration": "2026-05-01T12:10:00Z"})
    async with shake_hands(served, query=f"?token={token.text}") as (stream, status):
        assert status == 101
        await trio.testing.wait_all_tasks_blocked(0.05)
        async with trio.open_nursery() as nursery:

            async def report():
                for second in range(1, 1000):
                    await served.report(served.position(number, NOON + timedelta(seconds=second)))
                    await trio.sleep(0.02)

            nursery.start_soon(report)
            served.clock.move_wall(601)
            assert (await read_all(stream)).endswith(CLOSED)
            nursery.cancel_scope.cancel()


async def test_a_closed_session_ends_its_socket_and_no_other(served):
    other = await served.log_in("admin@example.org", "admin")
    async with (
        shake_hands(served, served.cookie(other)) as (stream, _),
        connect(served, served.cookie(served.admin)) as socket,
    ):
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert (await other.delete("/session")).status == 204
        assert (await read_all(stream)).endswith(CLOSED)
        number = await served.device(served.admin, "1")
        await served.report(served.position(number))
        await receive_until(socket, "positions", lambda found: found)


async def test_the_stop_of_the_server_closes_open_sockets(starting, monkeypatch, caplog):
    monkeypatch.setattr(http_server, "GRACE_SECONDS", 600.0)
    async with AsyncExitStack() as stack:
        async with starting(listen=True) as served:
            entered = shake_hands(served, served.cookie(served.admin))
            stream, status = await stack.enter_async_context(entered)
            assert status == 101
            await trio.testing.wait_all_tasks_blocked(0.05)
            began = trio.current_time()
        assert trio.current_time() - began < 60
        assert "did not stop within" not in caplog.text
        # The last frame: closed, by code 1001, going away.
        assert (await read_all(stream)).endswith(b"\x88\x02\x03\xe9")


async def test_a_client_that_reads_nothing_holds_no_memory_and_gets_the_newest_when_it_reads_again(starting):
    async with starting(listen=True) as served:
        number = await served.device(served.admin, "1", attributes={"note": "x" * 2000})
        other = await served.device(served.admin, "2")
        async with connect(served, served.cookie(served.admin)) as socket:
            await receive(socket)
            big = {"note": "y" * 2000}
            last = None
            for second in range(1, 400):
                (last,) = await served.report(
                    served.position(number, NOON + timedelta(seconds=second), attributes=big)
                )
            (beside,) = await served.report(served.position(other))
            assert last is not None
            newest = {last.id, beside.id}
            with trio.fail_after(30):
                while newest:
                    newest -= {found["id"] for found in (await receive(socket)).get("positions", ())}


async def test_a_user_and_an_address_have_only_so_many_sockets(starting):
    settings = HttpSettings(sockets_per_user=2, sockets_per_address=3)
    async with starting(listen=True, http=settings) as served:
        cookies = [served.cookie(served.admin), served.cookie(await served.user("ann"))]

        async def status(cookie):
            async with shake_hands(served, cookie) as (_, answered):
                return answered

        async with connect(served, cookies[0]), connect(served, cookies[0]):
            assert await status(cookies[0]) == 429
            async with connect(served, cookies[1]):
                assert await status(cookies[1]) == 429
        # Closed ones make room.
        with trio.fail_after(30):
            while await status(cookies[1]) != 101:
                await trio.lowlevel.checkpoint()


async def test_ended_sockets_leave_nothing_behind(served):
    cookie = served.cookie(await served.user("ann"))

    async def connect_and_leave(abruptly: bool) -> None:
        async with shake_hands(served, cookie) as (stream, status):
            assert status == 101
            await stream.receive_some()
            if not abruptly:
                # A masked close frame.
                await stream.send_all(b"\x88\x82\0\0\0\0\x03\xe8")
                await read_all(stream)

    with trio.fail_after(60):
        for number in range(10):
            await connect_and_leave(number % 2 == 0)
        # Not only when the next pings would be due: time stands nearly still here.
        while connections():
            await trio.testing.wait_all_tasks_blocked(0.01)

"""Device, server, HTTP: positions from the terminal's bytes to the API's JSON."""

import contextlib
import signal
import time
from datetime import UTC, datetime, timedelta

import httpx
import psutil
import pytest

from motorpool.bench.server import run_server
from motorpool.bench.vehicles.jt808.platform_messages import (
    GeneralResponse,
    MediaUploadResponse,
    RegistrationResponse,
    TemporaryTracking,
)
from motorpool.bench.vehicles.jt808.terminal import encode_items, encode_location
from motorpool.runtime import SystemClock

NOON = datetime(2026, 3, 5, 12, 0, 0, tzinfo=UTC)


def acknowledges(serial, message_id=0x0200):
    return lambda message: (
        isinstance(message, GeneralResponse)
        and message.answered_serial == serial
        and message.answered_id == message_id
    )


def device_of(client, unique_id):
    found = client.get("/devices", params={"uniqueId": unique_id}).json()
    return found[0] if found else None


def track(client, device_id, start=NOON - timedelta(days=1), end=NOON + timedelta(days=1)):
    answer = client.get(
        "/positions",
        params={"deviceId": device_id, "from": start.isoformat(), "to": end.isoformat()},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("version", [2013, 2019])
def test_a_terminal_signs_in_reports_and_is_seen_over_http(server, version, connected, eventually):
    phone = f"1391234{version}"
    with server.client() as client, connected(server, phone, version=version) as peer:
        items = encode_items(odometer_metres=184_460_0, rssi=24, satellites=11)
        body = encode_location(22.5731, 113.9213, NOON, speed_kmh=47, course=92, altitude=35, items=items)
        serial = peer.terminal.serial
        peer.send(peer.terminal.location(body))
        answer = peer.messages(acknowledges(serial))[-1]
        assert answer.result == 0
        device = device_of(client, phone)
        assert device["status"] == "online"
        # Acknowledged means committed: it is there at once, without waiting.
        (position,) = track(client, device["id"])
        assert position["fixTime"] == "2026-03-05T12:00:00Z"
        assert (position["latitude"], position["longitude"]) == (22.5731, 113.9213)
        assert position["speed"] == pytest.approx(47 * 0.539957, abs=1e-3)
        assert (position["course"], position["altitude"], position["protocol"]) == (92, 35, "jt808")
        attributes = position["attributes"]
        assert (attributes["odometer"], attributes["rssi"], attributes["sat"]) == (1_844_600, 24, 11)
        assert attributes["ignition"] is True
        assert attributes["motion"] is True
        latest = [one for one in client.get("/positions").json() if one["deviceId"] == device["id"]]
        assert [one["id"] for one in latest] == [position["id"]]
        assert device_of(client, phone)["positionId"] == position["id"]
    eventually(lambda: device_of_now(server, phone)["status"] == "offline")


def device_of_now(server, unique_id):
    with server.client() as client:
        return device_of(client, unique_id)


def test_positions_are_kept_in_order_and_old_ones_do_not_become_the_latest(server, connected):
    with server.client() as client, connected(server, "13900000002") as peer:
        bodies = [
            encode_location(22.5 + index / 1000, 113.9, NOON + timedelta(seconds=index))
            for index in range(300)
        ]
        last = (peer.terminal.serial + 299) & 0xFFFF
        peer.send(b"".join(peer.terminal.location(body) for body in bodies))
        peer.messages(acknowledges(last))
        serial = peer.terminal.serial
        old = [encode_location(10, 20, NOON - timedelta(hours=hour)) for hour in (3, 2, 1)]
        peer.send(peer.terminal.batch(old))
        peer.messages(acknowledges(serial, 0x0704))
        device = device_of(client, "13900000002")
        found = track(client, device["id"])
        assert len(found) == 303
        assert [one["fixTime"] for one in found] == sorted(one["fixTime"] for one in found)
        (latest,) = [one for one in client.get("/positions").json() if one["deviceId"] == device["id"]]
        assert latest["fixTime"] == "2026-03-05T12:04:59Z"


def test_a_fix_from_the_future_is_kept_but_never_the_latest(server, connected):
    with server.client() as client, connected(server, "13900000003") as peer:
        far = SystemClock().now().replace(microsecond=0) + timedelta(days=400)
        for moment in (NOON, far):
            serial = peer.terminal.serial
            peer.send(peer.terminal.location(encode_location(1, 2, moment)))
            peer.messages(acknowledges(serial))
        device = device_of(client, "13900000003")
        assert len(track(client, device["id"], end=far + timedelta(days=1))) == 2
        (latest,) = [one for one in client.get("/positions").json() if one["deviceId"] == device["id"]]
        assert latest["fixTime"] == "2026-03-05T12:00:00Z"


def test_a_photo_is_kept_as_a_file_and_a_position_names_it(server, connected):
    content = b"\xff\xd8" + bytes(range(256)) * 20 + b"\xff\xd9"
    with server.client() as client, connected(server, "13900000004") as peer:
        peer.send(peer.terminal.photo(77, content, encode_location(1, 2, NOON), channel=3))
        peer.messages(lambda message: isinstance(message, MediaUploadResponse) and not message.missing)
        device = device_of(client, "13900000004")
        (position,) = track(client, device["id"])
        assert position["attributes"]["channel"] == 3
        name = position["attributes"]["image"]
        files = list((server.folder / "data" / "media" / "13900000004").iterdir())
        assert [file.name for file in files] == [name]
        assert files[0].read_bytes() == content


def test_a_phone_reports_over_http_and_takes_a_queued_command_with_its_answer(server):
    with server.client() as client:
        device = client.post("/devices", json={"name": "Phone", "uniqueId": "phone-1"}).json()
        at = f"http://{server.host}:{5055 + server.offset}/"
        first = httpx.get(at, params={"id": "phone-1", "lat": 1, "lon": 2, "timestamp": 1709648551})
        assert (first.status_code, first.text) == (200, "")
        queued = client.post(
            "/commands/send",
            json={"deviceId": device["id"], "type": "custom", "attributes": {"data": "hello"}},
        )
        assert queued.status_code == 202
        assert queued.json()["type"] == "custom"
        second = httpx.get(at, params={"id": "phone-1", "lat": 1, "lon": 2.001, "timestamp": 1709648561})
        assert (second.status_code, second.text) == (200, "hello")
        third = httpx.get(at, params={"id": "phone-1", "lat": 1, "lon": 2.002, "timestamp": 1709648571})
        assert third.text == ""
        found = track(client, device["id"], start=datetime(2024, 3, 1, tzinfo=UTC), end=NOON)
        assert [one["fixTime"] for one in found] == [
            "2024-03-05T14:22:31Z",
            "2024-03-05T14:22:41Z",
            "2024-03-05T14:22:51Z",
        ]
        assert found[1]["attributes"]["distance"] == pytest.approx(111.3, abs=0.3)
        assert httpx.get(at, params={"id": "nobody", "lat": 1, "lon": 2}).status_code in (200, 400)
        assert httpx.get(at, params={"lat": 1, "lon": 2}).status_code == 400


def test_commands_reach_an_online_device_and_wait_for_an_offline_one(server, connected, eventually):
    phone = "13900000005"
    with server.client() as client:
        with connected(server, phone) as peer:
            device = device_of(client, phone)
            order = {
                "deviceId": str(device["id"]),
                "type": "positionPeriodic",
                "attributes": {"frequency": 30},
            }
            sent = client.post("/commands/send", json=order)
            assert sent.status_code == 200, sent.text
            assert peer.messages(lambda message: message.message_id in (0x8103, 0x8202))
            refused = client.post("/commands/send", json={"deviceId": device["id"], "type": "makeCoffee"})
            assert refused.status_code == 400
            assert "makeCoffee" in refused.text
        eventually(lambda: device_of(client, phone)["status"] == "offline")
        queued = client.post("/commands/send", json={"deviceId": device["id"], "type": "positionSingle"})
        assert queued.status_code == 202
        unwanted = {"deviceId": device["id"], "type": "rebootDevice", "attributes": {"noQueue": True}}
        assert client.post("/commands/send", json=unwanted).status_code == 400
        with connected(server, phone, sign_in=False) as peer:
            peer.send(peer.terminal.register())
            seen = peer.messages(lambda message: message.message_id == 0x8201)
            assert [message.message_id for message in seen].count(0x8201) == 1
        with connected(server, phone) as peer:
            serial = peer.terminal.serial
            peer.send(peer.terminal.heartbeat())
            again = peer.messages(acknowledges(serial, 0x0002))
            assert 0x8201 not in [message.message_id for message in again]


def test_the_newest_connection_of_a_number_wins_and_the_older_is_closed(server, connected):
    phone = "13900000006"
    with connected(server, phone) as older, connected(server, phone) as newer:
        older.socket.settimeout(60)
        assert older.socket.recv(1024) == b""
        serial = newer.terminal.serial
        newer.send(newer.terminal.heartbeat())
        newer.messages(acknowledges(serial, 0x0002))
        with server.client() as client:
            assert device_of(client, phone)["status"] == "online"


def test_an_unknown_terminal_is_refused_by_the_protocol_and_closed_after_a_few(start_server, connected):
    with start_server({"MOTORPOOL_REGISTER_UNKNOWN": "false"}) as server:
        with connected(server, "13900000009", sign_in=False) as peer:
            peer.send(peer.terminal.register())
            (answer,) = peer.messages(lambda message: isinstance(message, RegistrationResponse))
            assert answer.result == 4
            peer.send(peer.terminal.location(encode_location(1, 2, NOON)) * 3)
            with pytest.raises((AssertionError, ConnectionError), match=r"closed|reset"):
                peer.messages(lambda message: isinstance(message, TemporaryTracking))
        with server.client() as client:
            assert client.get("/devices", params={"all": "true"}).json() == []


def acknowledged_while(peer, action, seconds):
    """Send positions one by one while `action` happens; the fix times that were acknowledged."""
    kept = []
    started = time.monotonic()
    index = 0
    acted = False
    while not acted or time.monotonic() - started < seconds:
        # On a busy machine the first acknowledgement may take longer than that.
        if not acted and kept and time.monotonic() - started > 0.5:
            action()
            acted = True
        moment = NOON + timedelta(seconds=index)
        index += 1
        serial = peer.terminal.serial
        try:
            peer.send(peer.terminal.location(encode_location(1, 2, moment)))
            peer.messages(acknowledges(serial))
        except (OSError, AssertionError):
            break
        kept.append(moment)
    assert acted
    return kept


def test_all_postgres_processes_killed_under_load_lose_nothing_acknowledged(forks, connected):
    with run_server(start=forks.start) as server, connected(server, "13900000010") as peer:

        def kill_postgres():
            children = psutil.Process(server.process.pid).children(recursive=True)
            postgres = [child for child in children if "postgres" in child.name()]
            pid_file = next(server.folder.rglob("postmaster.pid"))
            postmaster = psutil.Process(int(pid_file.read_text().split("\n", 1)[0]))
            postgres += [postmaster, *postmaster.children(recursive=True)]
            for process in set(postgres):
                with contextlib.suppress(psutil.NoSuchProcess):  # went with its postmaster
                    process.kill()

        kept = acknowledged_while(peer, kill_postgres, seconds=6)
        assert kept
        server.await_health()
        with server.client() as client:
            device = device_of(client, "13900000010")
            stored = {one["fixTime"] for one in track(client, device["id"])}
        assert {moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in kept} <= stored
        # … and it goes on, on the same connection.
        serial = peer.terminal.serial
        peer.send(peer.terminal.location(encode_location(3, 4, NOON)))
        peer.messages(acknowledges(serial))


def test_the_server_killed_under_load_keeps_every_acknowledged_position(forks, data_folder, connected):
    data = {"MOTORPOOL_DATA": str(data_folder)}
    with run_server(data, forks.start) as server, connected(server, "13900000011") as peer:
        kept = acknowledged_while(peer, lambda: server.process.send_signal(signal.SIGKILL), seconds=3)
        assert kept
        server.process.wait()
        password = server.password
    with run_server(data, forks.start) as server:
        server.password = password
        with server.client() as client:
            device = device_of(client, "13900000011")
            stored = {one["fixTime"] for one in track(client, device["id"])}
            assert {moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in kept} <= stored

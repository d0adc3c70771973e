"""Two server processes on one database: rights, commands, video, and what the end of one leaves to the other
(docs/servers.md).
"""

import base64
import contextlib
import itertools
import json
import socket
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import m3u8
import pytest
import trio
from trio_websocket import ConnectionClosed, open_websocket_url, wrap_client_stream

from motorpool.bench.server import EMAIL
from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoRequest
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.units import AccessUnit

PATIENCE = 60.0
NUMBER = "13955550011"
KEYFRAME = b"\0\0\0\1\x67\x42\xc0\x1e\0\0\0\1\x68\xce\x38\x80\0\0\0\1\x65" + bytes(range(1, 200))


VAN = {"name": "Van 1", "uniqueId": "van1", "attributes": {"position.implausibleSpeed": 0}}
"""It is far away within a second."""


def report(server, latitude):
    values = {"id": "van1", "lat": latitude, "lon": -8.61}
    assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200


def film(peer, viewer, path):
    """Let the camera of a device film ten seconds for a viewer; the playlist that the viewer gets."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(viewer.get, path)
        with filming(peer, asked_for_video(peer)):
            answer = asked.result(60)
    assert answer.status_code == 200, answer.text
    return m3u8.loads(answer.text)


def asked_for_video(peer):
    """The request for live video that a device gets."""
    return peer.messages(lambda message: isinstance(message, LiveVideoRequest))[-1]


@contextlib.contextmanager
def filming(peer, request):
    """The camera has sent ten seconds, and is connected during the block."""
    peer.send(peer.terminal.general_response(request))
    sender = Jt1078Sender(NUMBER, 6)
    with socket.create_connection((request.host, request.tcp_port), timeout=40) as media:
        for count in range(21):
            media.sendall(sender.encode(AccessUnit(1, H264, True, 500 * count, KEYFRAME)))
        yield


async def watch(server, cookies, cause):
    """The first position that a WebSocket of the session gets after `cause()`."""
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    url = f"{server.url.replace('http', 'ws')}/api/socket"
    with trio.fail_after(PATIENCE):
        async with open_websocket_url(url, extra_headers=[(b"Cookie", cookie.encode())]) as client:
            known = {each["id"] for each in json.loads(await client.get_message())["positions"]}
            await trio.to_thread.run_sync(cause)
            while True:
                for each in json.loads(await client.get_message()).get("positions", ()):
                    if each["id"] not in known:
                        return each


@pytest.mark.timeout(180)
def test_two_servers_are_one_for_rights_and_commands(start_server, database_url, connected, eventually):
    settings = {
        "MOTORPOOL_CLUSTER_NAME": "north",
        "MOTORPOOL_DATABASE": database_url,
        "MOTORPOOL_NODE_ADDRESS": "http://127.0.0.1:0",
    }
    # The administrator is made by the server that starts first.
    with start_server(settings) as staying, staying.client() as client:
        with (
            start_server(settings) as leaving,
            httpx.Client(base_url=f"{leaving.url}/api", auth=(EMAIL, staying.password), timeout=60) as other,
            connected(leaving, NUMBER) as peer,
        ):
            van = other.post("/devices", json=VAN).json()["id"]
            report(leaving, 41.15)

            # They have folders of their own, of which the operator learns.
            for each in (staying, leaving):
                assert eventually(
                    lambda each=each: "keeps the files of devices in another folder" in each.log
                )

            # A command that the one server takes for a device at the other is sent at once.
            (device,) = client.get("/devices", params={"uniqueId": NUMBER}).json()
            text = base64.b16encode(b"\x83\x00\x01HELLO").decode()
            command = {"deviceId": device["id"], "type": "custom", "attributes": {"data": text}}
            assert client.post("/commands/send", json=command).status_code == 202
            assert peer.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)

            # So is one that must not wait in a queue, as the device is not offline.
            command["attributes"]["noQueue"] = True
            assert eventually(lambda: client.post("/commands/send", json=command).status_code == 202)
            assert peer.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)

            # Both have them in their logs, once both have been sent.
            sent = [(text, "SENT")] * 2

            def logged(each):
                log = each.get(f"/commands/log?deviceId={device['id']}").json()
                return [(entry["attributes"]["data"], entry["state"]) for entry in log] == sent and log

            assert eventually(lambda: logged(client)) == eventually(lambda: logged(other))

            # Each server shows the video of a device at the other one.
            folder = f"/stream/{device['id']}/1/"
            playlist = film(peer, client, folder + "live.m3u8")
            segment = folder + playlist.segments[0].uri
            assert len(client.get(segment).content) > 188
            assert client.get(segment).content == other.get(segment).content

            # What is at the one is watched at the other.
            by_number = {"params": {"uniqueId": NUMBER}}
            assert eventually(lambda: client.get("/devices", **by_number).json()[0]["status"] == "online")
            assert eventually(lambda: van in {each["deviceId"] for each in client.get("/positions").json()})

            # A device that connects to the other server has given up its connection to the first.
            with connected(staying, NUMBER) as again:
                with pytest.raises(AssertionError, match="closed by the server"):
                    peer.messages(lambda _: False)
                # Its video, which was being watched, goes on there after what there was.
                request = asked_for_video(again)
                assert other.post("/commands/send", json=command).status_code == 202
                assert again.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)

                def gone_on():
                    moved = m3u8.loads(other.get(folder + "live.m3u8").text)
                    return moved if any(each.discontinuity for each in moved.segments) else None

                with filming(again, request):
                    moved = eventually(gone_on)
                (place,) = [number for number, each in enumerate(moved.segments) if each.discontinuity]
                # The ten seconds before are five segments, and what was open.
                following = playlist.media_sequence + len(playlist.segments)
                assert following <= moved.media_sequence + place <= playlist.media_sequence + 6
                for each in moved.segments:
                    assert other.get(folder + each.uri).status_code == 200
            assert eventually(lambda: other.post("/commands/send", json=command).status_code == 400)

            # What is taken away at the one ends at the other.
            person = {"name": "Ana", "email": "ana@example.com", "password": "correct horse battery"}
            person["id"] = other.post("/users", json=person).json()["id"]
            link = {"userId": person["id"], "deviceId": van}
            assert other.post("/permissions", json=link).status_code == 204
            with httpx.Client(base_url=f"{staying.url}/api", timeout=60) as ana:
                form = {name: person[name] for name in ("email", "password")}
                assert ana.post("/session", data=form).status_code == 200
                assert eventually(lambda: [each["id"] for each in ana.get("/devices").json()] == [van])
                watched = trio.run(watch, staying, ana.cookies, partial(report, leaving, 41.155))
                assert watched["latitude"] == pytest.approx(41.155)
                assert other.request("DELETE", "/permissions", json=link).status_code == 204
                assert eventually(lambda: ana.get("/devices").json() == [])
                assert other.delete(f"/users/{person['id']}").status_code == 204
                assert eventually(lambda: ana.get("/devices").status_code == 401)
        # What the one has stored, the other goes on from.
        report(staying, 41.16)
        found = {position["deviceId"]: position for position in client.get("/positions").json()}
        assert found[van]["latitude"] == pytest.approx(41.16)
        assert found[van]["attributes"]["totalDistance"] == pytest.approx(1112, abs=5)


class Onlooker:
    """What a user at a server is shown of the status of devices: each new one, in order, by device."""

    def __init__(self, server, password):
        self._server = server
        self._client = httpx.AsyncClient(base_url=f"{server.url}/api", timeout=PATIENCE)
        self._password = password
        self._news = trio.Condition()
        self.shown = defaultdict(list)
        self.closed = []
        """The codes with which sockets were closed."""

    @contextlib.asynccontextmanager
    async def looking(self):
        async with self._client, trio.open_nursery() as nursery:
            form = {"email": EMAIL, "password": self._password}
            assert (await self._client.post("/session", data=form)).status_code == 200
            await nursery.start(self._look)
            yield self
            nursery.cancel_scope.cancel()

    async def until(self, device_id, *statuses):
        with trio.fail_after(PATIENCE):
            async with self._news:
                while tuple(self.shown[device_id]) != statuses:
                    await self._news.wait()

    async def _look(self, task_status):
        """As the console does: another socket and all devices when the server asks for that."""
        cookie = f"JSESSIONID={self._client.cookies['JSESSIONID']}".encode()
        while True:
            async with (
                await trio.open_tcp_stream(self._server.host, self._server.offset) as stream,
                trio.open_nursery() as nursery,
            ):
                host = f"{self._server.host}:{self._server.offset}"
                socket = await wrap_client_stream(
                    nursery, stream, host, "/api/socket", extra_headers=[(b"Cookie", cookie)]
                )
                await socket.get_message()
                await self._note((await self._client.get("/devices")).json())
                task_status.started()
                task_status = trio.TASK_STATUS_IGNORED
                try:
                    while True:
                        await self._note(json.loads(await socket.get_message()).get("devices", ()))
                except ConnectionClosed as closed:
                    self.closed.append(closed.reason.code)

    async def _note(self, devices):
        async with self._news:
            for each in devices:
                shown = self.shown[each["id"]]
                if shown[-1:] != [each["status"]]:
                    shown.append(each["status"])
            self._news.notify_all()


async def send_until_killed(server, password, device_id, acknowledged):
    """Send commands, each with a text of its own, as long as a server answers; note those that it took."""
    async with httpx.AsyncClient(
        base_url=f"{server.url}/api", auth=(EMAIL, password), timeout=PATIENCE
    ) as client:
        with contextlib.suppress(httpx.TransportError):
            for number in itertools.count():
                data = base64.b16encode(b"\x83\x00\x01%d" % number).decode()
                command = {"deviceId": device_id, "type": "custom", "attributes": {"data": data}}
                answer = await client.post("/commands/send", json=command)
                assert answer.status_code == 200, answer.text
                acknowledged.append((device_id, data))


@pytest.mark.timeout(180)
async def test_a_server_is_killed_and_its_devices_come_back_at_the_other(
    start_server, database_url, connected, eventually
):
    settings = {"MOTORPOOL_CLUSTER_NAME": "north", "MOTORPOOL_DATABASE": database_url}
    with contextlib.ExitStack() as stack:
        staying = stack.enter_context(start_server(settings))
        killed = stack.enter_context(start_server(settings))
        client = stack.enter_context(staying.client())
        numbers = "13955550012", "13955550013", "13955550014"
        for number in numbers:
            stack.enter_context(connected(killed, number))
        assert eventually(lambda: {each["status"] for each in client.get("/devices").json()} == {"online"})
        ids = {each["uniqueId"]: each["id"] for each in client.get("/devices").json()}
        early, late, never = (ids[number] for number in numbers)
        async with Onlooker(staying, staying.password).looking() as onlooker:
            for device_id in (early, late, never):
                await onlooker.until(device_id, "online")
            acknowledged = []
            with trio.fail_after(PATIENCE):
                async with trio.open_nursery() as nursery:
                    for device_id in (early, late):
                        nursery.start_soon(
                            send_until_killed, killed, staying.password, device_id, acknowledged
                        )
                    while len(acknowledged) < 40:  # noqa: ASYNC110 - a list of the test
                        await trio.sleep(0.01)
                    killed.process.kill()
            killed.process.wait()
            # What was said to be sent is in the log.
            query = f"deviceId={early}&deviceId={late}&limit=1000"
            rows = client.get(f"/commands/log?{query}").json()
            found = {(row["deviceId"], row["attributes"]["data"]): row["state"] for row in rows}
            assert {found[command] for command in acknowledged} == {"SENT"}
            # A device that is back before its server is found to be dead is never offline.
            stack.enter_context(connected(staying, numbers[0]))
            # As if eight seconds had passed.
            staying.run_sql(
                "update nodes set seen_until = clock_timestamp() - interval '1 second' where id ="
                f" (select node from homes where device_id = {late})"
            )
            for device_id in (late, never):
                await onlooker.until(device_id, "online", "offline")
            assert onlooker.closed == [1013]
            stack.enter_context(connected(staying, numbers[1]))
            await onlooker.until(late, "online", "offline", "online")
            assert onlooker.shown == {
                early: ["online"],
                late: ["online", "offline", "online"],
                never: ["online", "offline"],
            }
            assert {each["id"]: each["status"] for each in client.get("/devices").json()} == {
                early: "online",
                late: "online",
                never: "offline",
            }

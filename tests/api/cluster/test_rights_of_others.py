"""What is taken away at one server ends what was opened with it at another (docs/servers.md#changes)."""

from contextlib import AsyncExitStack
from datetime import timedelta
from urllib.parse import quote

import pytest
import trio
from tests.api.cluster.conftest import KEYFRAME, PATIENCE, film, learned, requested
from tests.api.conftest import NOON
from tests.api.sockets.test_websocket import CLOSED, connect, read_all, receive, shake_hands

from motorpool.actors.messages.access import CoversGuest, MaySee
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.messages.live_stream import STREAM, MoveStream
from motorpool.actors.messages.playback import PLAYBACK, PlaybackCommandCompleted, PlaybackRequested
from motorpool.actors.messages.publishing import Publish, UnitsPublished
from motorpool.actors.video import live_reads
from motorpool.api.sockets import live_updates
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit
from motorpool.storage.cluster import homes

TOMORROW = "2026-05-02T12:00:00Z"
PAST = "2026-05-01T12:00:00Z"
DAY = 86_400


class Viewer:
    """A user who is logged in at the one server, and how their rights are taken away at the other."""

    def __init__(self, client, cookie, take, status):
        self.client, self.cookie, self._take = client, cookie, take
        self.status = status
        """What their requests are answered with then."""

    async def take(self):
        answer = await self._take()
        assert answer.status in {200, 204}, answer.text


@pytest.fixture
async def viewers(servers, database):
    """By what is taken away. All may see the device of the second server, at which it is taken away."""
    one, home = servers
    van = home.device_id
    group = (await home.admin.post("/groups", json={"name": "North"})).json()["id"]
    row = (await home.admin.get(f"/devices/{van}")).json()
    found = {}

    async def add(name, take, status, **link):
        client = await one.user(name)
        link = {"userId": client.id, **(link or {"deviceId": van})}
        assert (await home.admin.post("/permissions", json=link)).status == 204
        await learned(one, MaySee(client.id, van))
        found[name] = Viewer(client, one.cookie(client), lambda: take(client, link), status)
        return client

    async def add_guest(name, sharer, take):
        answer = await sharer.post(
            "/share/device", form={"deviceId": van, "expiration": "2026-05-02T12:00:00Z"}
        )
        assert answer.status == 200, answer.text
        client = one.client()
        guest_id = await database.fetch_value("select max(id) from users")
        await learned(one, CoversGuest(sharer.id, guest_id))
        user = (await client.get(f"/session?token={quote(answer.text)}")).json()
        found[name] = Viewer(client, one.cookie(client), lambda: take(user), 401)

    async def unlink(_client, link):
        return await home.admin.call("DELETE", "/api/permissions", json=link)

    async def change(user_id, **fields):
        user = (await home.admin.get(f"/users/{user_id}")).json()
        return await home.admin.put(f"/users/{user_id}", json={**user, **fields})

    async def disable(client, _link):
        return await change(client.id, disabled=True)

    async def delete(client, _link):
        return await home.admin.delete(f"/users/{client.id}")

    async def log_out(client, _link):
        same = home.client({"Cookie": f"JSESSIONID={one.cookie(client)}"})
        return await same.delete("/session")

    async def leave_group(_client, _link):
        return await home.admin.put(f"/devices/{van}", json={**row, "groupId": 0})

    assert (await home.admin.put(f"/devices/{van}", json={**row, "groupId": group})).status == 200
    await add("link of the device", unlink, 404)
    await add("link of a group", unlink, 404, groupId=group)
    await add("device of the group", leave_group, 404, groupId=group)
    await add("access of the user", disable, 401)
    await add("user", delete, 401)
    await add("session", log_out, 401)
    ann, ben = [await home.user(name, deviceLimit=-1) for name in ("ann", "ben")]
    for sharer in (ann, ben):
        await home.admin.post("/permissions", json={"userId": sharer.id, "deviceId": van})
    await add_guest("link of who shared", ann, lambda _: unlink(ann, {"userId": ann.id, "deviceId": van}))
    await add_guest("time of a guest", ben, lambda user: change(user["id"], expirationTime=PAST))
    return found


async def play_back(served, device_id):
    """Two key frames a second of a recording come from the device's first camera."""
    playback = served.context.system.ref(PLAYBACK, (device_id, 1))
    await playback.tell(PlaybackRequested(user_id=served.admin_id))
    await playback.tell(PlaybackCommandCompleted(sent=True))
    connection = served.context.system.ref(CONNECTION, 2)
    assert await playback.ask(Publish(connection))
    units = [AccessUnit(1, H264, True, 500 * count, KEYFRAME) for count in range(11)]
    await playback.tell(UnitsPublished(connection, units))


async def test_video_of_another_server(servers, viewers, requests, monkeypatch):
    # Who waits for the next part waits until all have lost their rights, however slow the machine is.
    monkeypatch.setattr(live_reads, "RELOAD_TARGETS", 1_000)
    one, home = servers
    await film(home, home.device_id, 0, 5)
    await play_back(home, home.device_id)
    folder = f"/stream/{home.device_id}/1"
    playlist = (await one.admin.get(f"{folder}/playback.m3u8")).text
    recorded = next(line for line in playlist.splitlines() if line and not line.startswith("#"))
    paths = [f"{folder}/{name}" for name in ("live.m3u8", "1.ts", "1.0.ts", "playback.m3u8", recorded)]
    blocking = f"{folder}/live.m3u8?_HLS_msn=3&_HLS_part=3"
    waited = {}

    async def wait(name, client):
        waited[name] = (await client.get(blocking)).status

    for viewer in viewers.values():
        assert [(await viewer.client.get(path)).status for path in paths] == [200] * len(paths)
    requests.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "administrator", one.admin)
        for name, viewer in viewers.items():
            nursery.start_soon(wait, name, viewer.client)
        await requested(requests)
        for viewer in viewers.values():
            await viewer.take()
            there = home.client({"Cookie": f"JSESSIONID={viewer.cookie}"})
            with trio.fail_after(PATIENCE):
                while (await viewer.client.get(paths[0])).status == 200:  # noqa: ASYNC110 - the server is asked
                    await trio.sleep(0.01)
            expected = [viewer.status] * len(paths)
            assert [(await viewer.client.get(path)).status for path in paths] == expected
            assert [(await there.get(path)).status for path in paths] == expected
        assert not waited
        await film(home, home.device_id, 5, 2)
    assert waited == {"administrator": 200, **{name: viewer.status for name, viewer in viewers.items()}}


async def test_video_that_the_former_server_of_a_stream_has(
    servers, viewers, requests, database, monkeypatch
):
    monkeypatch.setattr(live_reads, "RELOAD_TARGETS", 1_000)
    one, home = servers
    await film(home, home.device_id, 0, 5)
    # The device has connected to the other one, where no media come yet.
    await homes.claim(database, one.node, [home.device_id])
    for each in servers:
        each.context.home_finder.forget_all()
    await one.context.system.ref(STREAM, (home.device_id, 1)).tell(MoveStream())
    folder = f"/stream/{home.device_id}/1"
    paths = [f"{folder}/{name}" for name in ("live.m3u8", "1.ts", "1.0.ts")]
    waited = {}

    async def wait(name, client):
        waited[name] = (await client.get(f"{folder}/live.m3u8?_HLS_msn=3&_HLS_part=3")).status

    for viewer in viewers.values():
        assert [(await viewer.client.get(path)).status for path in paths] == [200] * len(paths)
    requests.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "administrator", one.admin)
        for name, viewer in viewers.items():
            nursery.start_soon(wait, name, viewer.client)
        await requested(requests)
        for viewer in viewers.values():
            await viewer.take()
            with trio.fail_after(PATIENCE):
                while (await viewer.client.get(paths[0])).status == 200:  # noqa: ASYNC110 - the server is asked
                    await trio.sleep(0.01)
            assert [(await viewer.client.get(path)).status for path in paths] == [viewer.status] * len(paths)
        assert not waited
        await film(home, home.device_id, 5, 2)
    assert waited == {"administrator": 200, **{name: viewer.status for name, viewer in viewers.items()}}


async def latest_at(served, position):
    """Wait until a server shows this position, which another one has stored."""
    with trio.fail_after(PATIENCE):
        while position.id not in await shown_at(served):  # noqa: ASYNC110 - the server is asked
            await trio.sleep(0.01)


async def shown_at(served):
    return {each["id"] for each in (await served.admin.get("/positions")).json()}


async def test_sockets_at_another_server(servers, viewers):
    one, home = servers
    van, other = home.device_id, await home.device(home.admin, "2")
    minutes = iter(range(1, 1000))

    async def report(*device_ids):
        """Positions at the device's server, until the one of the viewers has them; their ids."""
        stored = []
        for device_id in device_ids:
            # One after the other, so that sockets get them in this order.
            when = NOON + timedelta(minutes=next(minutes))
            stored += await home.report(home.position(device_id, when))
            await latest_at(one, stored[-1])
        return [each.id for each in stored]

    async with AsyncExitStack() as stack:
        for viewer in viewers.values():
            if viewer.status == 401:
                viewer.socket, _ = await stack.enter_async_context(shake_hands(one, viewer.cookie))
                continue
            link = {"userId": viewer.client.id, "deviceId": other}
            assert (await home.admin.post("/permissions", json=link)).status == 204
            viewer.socket = await stack.enter_async_context(connect(one, viewer.cookie))
            await receive(viewer.socket)
        for viewer in viewers.values():
            if viewer.status == 401:
                await viewer.take()
                assert (await read_all(viewer.socket)).endswith(CLOSED)
                continue
            (number,) = await report(van)
            assert await is_shown(viewer.socket, number, number)
            await viewer.take()
            with trio.fail_after(PATIENCE):
                while await is_shown(viewer.socket, *await report(van, other)):
                    pass
            assert not await is_shown(viewer.socket, *await report(van, other))


async def is_shown(socket, wanted, last):
    """Whether a socket gets the one position until it gets the other."""
    shown = set()
    while last not in shown:
        shown.update(each["id"] for each in (await receive(socket)).get("positions", ()))
    return wanted in shown


async def test_a_shared_device_is_watched_at_another_server_until_its_time(servers, database, monkeypatch):
    monkeypatch.setattr(live_updates, "MAX_SLEEP_SECONDS", 0.1)
    one, home = servers
    form = {"deviceId": home.device_id, "expiration": TOMORROW}
    token = (await home.admin.post("/share/device", form=form)).text
    await learned(one, CoversGuest(0, await database.fetch_value("select max(id) from users")))
    guest = one.client({"Authorization": f"Bearer {token}"})
    (stored,) = await home.report(home.position(home.device_id))
    await latest_at(one, stored)
    async with shake_hands(one, query=f"?token={quote(token)}") as (stream, status):
        assert (status, (await guest.get("/positions")).json()[0]["id"]) == (101, stored.id)
        one.clock.move_wall(DAY)
        assert (await read_all(stream)).endswith(CLOSED)
    assert (await guest.get("/positions")).status == 401

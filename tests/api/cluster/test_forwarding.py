"""Video of devices that are connected to another server of the cluster (docs/servers.md#video)."""

from contextlib import asynccontextmanager
from functools import partial

import httpx
import m3u8
import msgspec
import pytest
import trio
from tests.api.cluster.conftest import PATIENCE, film, member, requested
from trio.testing import wait_all_tasks_blocked
from trio_websocket import ConnectionClosed, open_websocket_url

from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.messages.live_stream import STREAM, HoldStream, IsLive, ReadPlaylist
from motorpool.actors.messages.playback import PLAYBACK, PlaybackCommandCompleted, PlaybackRequested
from motorpool.actors.messages.publishing import Publish, PublisherLeft
from motorpool.api.cluster import home_requests, home_socket
from motorpool.api.cluster.home_requests import PLAYLIST_SECONDS
from motorpool.api.cluster.home_socket import HomeRefused, open_home_socket
from motorpool.api.http.node_gate import CALLER_HEADER, CLIENT_HEADER, KEY_HEADER, NodeGate, Sender
from motorpool.api.nodes.control import Sibling, Siblings
from motorpool.api.nodes.machine import Machine
from motorpool.api.resources.streams import Directives
from motorpool.api.settings import HttpSettings
from motorpool.storage.cluster import homes
from motorpool.storage.cluster.homes import Home


async def test_the_home_of_a_device_answers_what_another_server_is_asked(servers, requests):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    path = f"/stream/{home.device_id}/1"
    live = await one.admin.get(f"{path}/live.m3u8")
    assert (live.status, live.text) == (200, (await home.admin.get(f"{path}/live.m3u8")).text)
    assert live.headers["Content-Type"] == "application/vnd.apple.mpegurl"
    assert live.headers["Cache-Control"] == "no-cache, no-store"
    assert [entry.uri for entry in m3u8.loads(live.text).segments] == ["1.ts", "2.ts", None]
    for name in ("1.ts", "1.0.ts"):
        here, there = await one.admin.get(f"{path}/{name}"), await home.admin.get(f"{path}/{name}")
        assert (here.status, here.body) == (200, there.body)
        for header in ("Content-Type", "Cache-Control"):
            assert here.headers[header] == there.headers[header]
    # What is wrong is answered as at the home.
    for name in ("live.m3u8?_HLS_msn=50", "77.ts", "snapshot.jpg", "playback.m3u8", "playback/1.ts"):
        here, there = await one.admin.get(f"{path}/{name}"), await home.admin.get(f"{path}/{name}")
        assert (here.status, here.text) == (there.status, there.text)
    # What is wrong anyway does not leave this server.
    before = requests.total()
    for name in ("live.m3u8?_HLS_part=1", "live.m3u8?_HLS_msn=x"):
        assert (await one.admin.get(f"{path}/{name}")).status == 400
    assert (await one.admin.get(f"/stream/{home.device_id}/32/live.m3u8")).status == 404
    assert requests.total() == before
    # The home itself asks nobody.
    assert (await home.admin.get(f"{path}/2.ts")).status == 200
    assert requests.total() == before


@pytest.mark.parametrize("viewers", [50, pytest.param(500, marks=pytest.mark.long)])
async def test_many_viewers_cost_one_request_for_a_segment_and_one_for_a_change(
    servers, requests, monkeypatch, viewers
):
    # A viewer that comes late gets what the others got.
    monkeypatch.setattr(home_requests, "PLAYLIST_SECONDS", 60.0)
    one, home = servers
    await film(home, home.device_id, 0, 5)
    path = f"/stream/{home.device_id}/1"
    playlists, segments = [], []

    async def view():
        blocking = f"{path}/live.m3u8?_HLS_msn=3&_HLS_part=3"
        playlists.append((await one.admin.get(blocking)).text)
        segments.append((await one.admin.get(f"{path}/1.ts")).body)

    async with trio.open_nursery() as nursery:
        for _ in range(viewers):
            nursery.start_soon(view)
        await requested(requests)
        await film(home, home.device_id, 5, 2)
    assert len(playlists) == len(segments) == viewers
    assert len(set(playlists)) == len(set(segments)) == 1
    assert requests[f"{home.device_id}/1/live.m3u8?_HLS_msn=3&_HLS_part=3"] == 1
    assert requests[f"{home.device_id}/1/1.ts"] == 1


async def test_a_viewer_who_leaves_does_not_end_the_request_of_the_others(servers, requests):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    blocking = f"/stream/{home.device_id}/1/live.m3u8?_HLS_msn=3&_HLS_part=3"
    answers = []

    async def view():
        answers.append((await one.admin.get(blocking)).status)

    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as leaving:
            async with trio.open_nursery() as first:
                first.start_soon(one.admin.get, blocking)
                await requested(requests)
                nursery.start_soon(view)
                leaving.cancel()
        await film(home, home.device_id, 5, 2)
    assert answers == [200]


async def test_a_request_that_nobody_waits_for_is_given_up(servers, monkeypatch):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    begun, ended = trio.Event(), trio.Event()
    sent = []
    serve = NodeGate.__call__

    async def note(self, scope, receive, send):
        async def note_sent(event):
            sent.append(event["type"])
            await send(event)

        begun.set()
        await serve(self, scope, receive, note_sent)
        ended.set()

    monkeypatch.setattr(NodeGate, "__call__", note)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.admin.get, f"/stream/{home.device_id}/1/live.m3u8?_HLS_msn=3&_HLS_part=3")
        with trio.fail_after(120):
            await begun.wait()
            nursery.cancel_scope.cancel()
    with trio.fail_after(120):
        await ended.wait()
    assert sent == []


@pytest.mark.parametrize(
    ("limit", "of_another_device"), [("MAX_USER_DEVICE_REQUESTS", 404), ("MAX_USER_REQUESTS", 503)]
)
async def test_the_waits_of_one_user_leave_room_for_others(
    servers, database, requests, monkeypatch, limit, of_another_device
):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    other_device = await home.device(home.admin, "2")
    await homes.claim(database, home.node, [other_device])
    ann = await one.user("ann")
    link = {"userId": ann.id, "deviceId": home.device_id}
    assert (await one.admin.post("/permissions", json=link)).status == 204
    monkeypatch.setattr(home_requests, limit, 1)
    path = f"/stream/{home.device_id}/1"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.admin.get, f"{path}/live.m3u8?_HLS_msn=3&_HLS_part=3")
        await requested(requests)
        refused = await one.admin.get(f"{path}/77.ts")
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert (await one.admin.get(f"/stream/{other_device}/1/77.ts")).status == of_another_device
        assert (await ann.get(f"{path}/77.ts")).status == 404
        nursery.cancel_scope.cancel()


async def test_rights_are_checked_before_another_server_is_asked(servers, requests):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    path = f"/stream/{home.device_id}/1"
    assert (await one.admin.get(f"{path}/1.ts")).status == 200
    before = requests.total()
    ann = await one.user("ann")
    for name in ("live.m3u8", "1.ts", "snapshot.jpg", "playback.m3u8"):
        assert (await ann.get(f"{path}/{name}")).status == 404
        assert (await one.client().get(f"{path}/{name}")).status == 401
    assert requests.total() == before


async def test_only_who_has_the_key_is_answered_and_only_about_video_and_figures(servers):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    right = {KEY_HEADER: home.listener.key}
    path = f"/api/stream/{home.device_id}/1/1.ts"
    async with httpx.AsyncClient(base_url=home.listener.url) as client:
        assert (await client.get(path, headers=right)).status_code == 200
        for wrong in ({}, {KEY_HEADER: one.listener.key}, {KEY_HEADER: ""}, {**right, CALLER_HEADER: "x"}):
            answer = await client.get(path, headers=wrong)
            assert (answer.status_code, answer.text) == (403, "for servers of a cluster")
        # Who watches it needs none, but is one who may see the figures.
        assert (await client.get("/api/health")).text == "OK"
        assert "motorpool_database_available 1.0" in (await client.get("/metrics")).text
        for known in ("/metrics", "/api/health"):
            assert (await client.get(known, headers={KEY_HEADER: one.listener.key})).status_code == 403
        for other in ("/api/health/x", "/api/devices"):
            assert (await client.get(other)).status_code == 403
        for other in ("/api/devices", "/api/users", "/", "/metrics/x", "/api/captures?deviceId=1"):
            assert (await client.get(other, headers=right)).status_code == 403
        # Files are not forwarded, for no user.
        as_admin = {**right, CALLER_HEADER: f'{{"userId":{one.admin_id}}}'}
        captures = f"/api/captures?deviceId={home.device_id}"
        assert (await client.get(captures, headers=as_admin)).status_code == 200
        for other in ("/api/media/1/picture.jpg", "/api/devices"):
            assert (await client.get(other, headers=as_admin)).status_code == 403
        # A user is one who exists, and sees what they see.
        assert (await client.get(path, headers={**right, CALLER_HEADER: '{"userId":99}'})).status_code == 401
        ann = await home.user("ann")
        headers = {**right, CALLER_HEADER: f'{{"userId":{ann.id}}}'}
        assert (await client.get(path, headers=headers)).status_code == 404
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{home.port}") as client:
        # The key opens nothing at the public address.
        assert (await client.get(path, headers=right)).status_code == 401


async def test_a_home_that_is_gone_is_a_503_until_the_device_is_elsewhere(servers, database):
    one, home = servers
    path = f"/stream/{home.device_id}/1/live.m3u8"
    await database.execute("update nodes set address = 'http://127.0.0.1:9' where id = $1", home.node)
    for _ in range(2):
        answer = await one.admin.get(path)
        assert (answer.status, answer.text) == (503, "the server of the device cannot be reached now")
        assert answer.headers["Retry-After"] == "1"
    await homes.claim(database, one.node, [home.device_id])

    async def served_here():
        return (await one.admin.get(path)).status == 200

    with trio.fail_after(120):
        while not await served_here():  # noqa: ASYNC110 - the server is asked
            await trio.sleep(0.05)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nContent-Length: 1000\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"220 mail.example.org ESMTP\r\n",
    ],
)
async def test_a_home_that_dies_in_the_middle_of_its_answer_is_a_503(servers, database, sent):
    one, home = servers

    async def answer(stream):
        async with stream:
            await stream.receive_some()
            await stream.send_all(sent)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, answer, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        await database.execute(
            "update nodes set address = $2 where id = $1", home.node, f"http://127.0.0.1:{port}"
        )
        for _ in range(2):
            # Nothing of it is kept.
            answered = await one.admin.get(f"/stream/{home.device_id}/1/1.ts")
            assert (answered.status, answered.text) == (503, "the server of the device does not answer now")
        nursery.cancel_scope.cancel()


async def test_a_home_that_does_not_renew_its_row_is_not_waited_for(servers, database, requests):
    one, home = servers
    await film(home, home.device_id, 0, 5)
    blocking = f"/stream/{home.device_id}/1/live.m3u8?_HLS_msn=3&_HLS_part=3"
    statuses = []

    async def view():
        statuses.append((await one.admin.get(blocking)).status)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(view)
        await requested(requests)
        with trio.fail_after(120):
            while not statuses:
                # As if it were frozen; its own renewal is undone.
                await database.execute(
                    "update nodes set seen_until = clock_timestamp() + interval '1 second' where id = $1",
                    home.node,
                )
                await trio.sleep(0.05)
    assert statuses == [503]


async def test_a_request_is_forwarded_once_only(servers, database):
    one, home = servers
    right = {KEY_HEADER: home.listener.key}
    await homes.claim(database, one.node, [home.device_id])
    async with httpx.AsyncClient(base_url=home.listener.url) as client:
        answer = await client.get(f"/api/stream/{home.device_id}/1/live.m3u8", headers=right)
    assert (answer.status_code, answer.text) == (503, "the device has moved to another server")
    assert answer.headers["Retry-After"] == "1"


async def test_a_device_that_moves_and_comes_back_has_playlists_that_only_grow(
    servers, database, monkeypatch
):
    monkeypatch.setattr(home_requests, "PLAYLIST_SECONDS", 0.0)
    one, home = servers
    path = f"/stream/{home.device_id}/1/live.m3u8"
    discontinuities = 0
    for turn, server in enumerate((home, one, home, one)):
        await homes.claim(database, server.node, [home.device_id])
        for each in servers:
            each.context.home_finder.forget_all()
        await film(server, home.device_id, 0, 5)
        playlists = [m3u8.loads((await each.admin.get(path)).text) for each in servers]
        assert playlists[0].dumps() == playlists[1].dumps()
        listed = [segment for segment in playlists[0].segments if segment.uri]
        # Three segments each time, the last one ended by the move; six are listed.
        assert listed[-1].uri == f"{3 * turn + 2}.ts"
        assert playlists[0].media_sequence == max(1, 3 * turn + 3 - 6)
        assert [segment.discontinuity for segment in listed if segment.discontinuity] == [True] * min(turn, 2)
        discontinuities = (playlists[0].discontinuity_sequence or 0) + sum(
            segment.discontinuity for segment in listed
        )
        assert discontinuities == turn
        stream = server.context.system.ref(STREAM, (home.device_id, 1))
        await stream.tell(PublisherLeft(server.context.system.ref(CONNECTION, 1)))


async def test_the_playbacks_of_a_device_are_those_at_its_home(servers):
    one, home = servers
    query = {"deviceId": home.device_id}
    assert (await one.admin.get("/playbacks", query_string=query)).json() == []
    playback = home.context.system.ref(PLAYBACK, (home.device_id, 2))
    await playback.tell(PlaybackRequested(None, None, one.admin_id))
    await playback.tell(PlaybackCommandCompleted(sent=True))
    listed = await one.admin.get("/playbacks", query_string=query)
    assert [(each["channel"], each["userName"]) for each in listed.json()] == [(2, "Admin")]
    assert listed.json() == (await home.admin.get("/playbacks", query_string=query)).json()


def test_what_a_player_asks_of_a_playlist_is_asked_of_the_home():
    assert Directives().as_query == ""
    assert Directives(msn=7, part=2).as_query == "_HLS_msn=7&_HLS_part=2"
    assert Directives(wait=0.0).as_query == "wait=0.0"


async def test_a_stream_that_was_requested_before_another_server_streamed_begins_above_its_numbers(
    servers, database, monkeypatch
):
    monkeypatch.setattr(home_requests, "PLAYLIST_SECONDS", 0.0)
    one, home = servers
    path = f"/stream/{home.device_id}/1/live.m3u8"
    # The device leaves this server before its camera has begun to stream: the reader goes on waiting.
    stream = home.context.system.ref(STREAM, (home.device_id, 1))
    await stream.tell(HoldStream())
    answers = []

    async def wait():
        answers.append(await stream.ask(ReadPlaylist(wait_seconds=600.0), seconds=600.0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        # Answered after the stream has its numbers and the reader waits.
        assert not await stream.ask(IsLive())
        await homes.claim(database, one.node, [home.device_id])
        for each in servers:
            each.context.home_finder.forget_all()
        await film(one, home.device_id, 0, 5)
        first = m3u8.loads((await one.admin.get(path)).text)
        leaving = one.context.system.ref(STREAM, (home.device_id, 1))
        await leaving.tell(PublisherLeft(one.context.system.ref(CONNECTION, 1)))
        await homes.claim(database, home.node, [home.device_id])
        for each in servers:
            each.context.home_finder.forget_all()
        assert answers == []
        assert await stream.ask(Publish(home.context.system.ref(CONNECTION, 1)))
        await film(home, home.device_id, 1, 5)
    # The reader gets what the other server had; then the stream goes on with that.
    begun, gone_on = m3u8.loads(answers[0].answer), m3u8.loads((await one.admin.get(path)).text)
    for found in (begun, gone_on):
        assert found.media_sequence == first.media_sequence
        assert [each.uri for each in found.segments[:2]] == [each.uri for each in first.segments[:2]]
    assert [each.discontinuity for each in gone_on.segments[1:]].count(True) == 1


async def test_the_home_says_why_nobody_can_talk_to_a_device(servers, database, monkeypatch):
    one, home = servers
    assert await end_of_talk(one, home.device_id) == (4400, "the device is offline")
    silent = (4503, "the server of the device does not answer now")
    with monkeypatch.context() as patched:
        # A server that is frozen takes connections.
        patched.setattr(home_socket, "PING_SECONDS", 0.1)
        async with frozen_server() as address:
            await database.execute("update nodes set address = $2 where id = $1", home.node, address)
            one.context.home_finder.forget_all()
            assert await end_of_talk(one, home.device_id) == silent
    await database.execute("update nodes set address = 'http://127.0.0.1:9' where id = $1", home.node)
    one.context.home_finder.forget_all()
    assert await end_of_talk(one, home.device_id) == silent


@asynccontextmanager
async def frozen_server():
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"


async def end_of_talk(served, device_id):
    """The code and reason with which the administrator's talk to a device is closed."""
    url = f"ws://127.0.0.1:{served.port}/api/stream/{device_id}/1/talk?errors=close"
    headers = [("Cookie", f"JSESSIONID={served.cookie(served.admin)}")]
    with trio.fail_after(PATIENCE):
        async with open_websocket_url(url, extra_headers=headers) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.get_message()
            await socket._stream.aclose()
    return closed.value.reason.code, closed.value.reason.reason


async def test_a_socket_between_servers_is_for_a_user_and_about_video(servers):
    one, home = servers
    talk = f"/api/stream/{home.device_id}/1/talk"
    ann = await home.user("ann")
    there = Home(home.node, home.listener.url, home.listener.key, responds=True)
    wrong_key = msgspec.structs.replace(there, key=one.listener.key)
    admin = Sender(one.admin_id)
    for server, path, sender, answer in (
        (there, talk, admin, (400, "the device is offline")),
        (there, talk, Sender(ann.id), (404, "no such device")),
        (there, talk, Sender(99), (401, "log in first")),
        (there, talk, Sender(), (403, "")),
        (wrong_key, talk, admin, (403, "")),
        (there, "/api/socket", admin, (403, "")),
    ):
        with pytest.raises(HomeRefused) as refused:
            async with open_home_socket(server, path, sender, "192.0.2.1", seconds=PATIENCE):
                pass
        assert (refused.value.status, refused.value.text) == answer


async def test_servers_of_a_machine_answer_with_the_figures_of_all(servers):
    one, home = servers
    ready = tuple(
        Sibling(index, each.node, each.listener.url, each.listener.key) for index, each in enumerate(servers)
    )
    for index, each in enumerate(servers):
        each.context.machine = Machine(index=index, siblings=lambda: Siblings(ready, 3))
    async with httpx.AsyncClient(base_url=home.listener.url) as client:
        own = await client.get("/metrics", headers={KEY_HEADER: home.listener.key})
        assert "motorpool_database_available 1.0" in own.text
    for each in servers:
        text = (await each.client().call("GET", "/metrics")).text
        for index in range(2):
            assert f'motorpool_database_available{{node="{index}"}} 1.0' in text
        assert "motorpool_processes_wanted 3.0" in text
        assert "motorpool_processes_answering 2.0" in text
    # One that does not answer is left out.
    gone = msgspec.structs.replace(ready[1], url="http://127.0.0.1:9")
    one.context.machine = Machine(index=0, siblings=lambda: Siblings((ready[0], gone), 2))
    await trio.sleep(PLAYLIST_SECONDS)
    text = (await one.client().call("GET", "/metrics")).text
    assert 'motorpool_database_available{node="0"} 1.0' in text
    assert "motorpool_processes_answering 1.0" in text


async def test_no_header_says_from_where_figures_are_read_without_the_key(database, tmp_path):
    http = HttpSettings(metrics_allow=("10.0.0.0/8",))
    async with (
        member(database, tmp_path, http=http) as served,
        httpx.AsyncClient(base_url=served.listener.url) as client,
    ):
        assert (await client.get("/api/health")).status_code == 200
        allowed = "10.0.0.1"
        as_admin = f'{{"userId":{served.admin_id}}}'
        for headers in (
            {},
            {CLIENT_HEADER: allowed},
            {CLIENT_HEADER: allowed, KEY_HEADER: "", CALLER_HEADER: as_admin},
            {"X-Forwarded-For": allowed},
            {"Forwarded": f"for={allowed}"},
        ):
            assert (await client.get("/metrics", headers=headers)).status_code == 403, headers
        assert (await client.get("/metrics", headers={KEY_HEADER: served.listener.key})).status_code == 200

"""Live streams that move to another server of the cluster while they are viewed (docs/servers.md#video)."""

import io

import av
import httpx
import m3u8
import pytest
import trio
from tests.api.cluster.conftest import KEYFRAME, PATIENCE, film, learned, member, requested
from trio.testing import wait_all_tasks_blocked

from motorpool.actors.messages.access import MaySee
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.messages.live_stream import (
    STREAM,
    HandOver,
    HoldStream,
    MoveStream,
    ReadKeyframe,
    ReadPlaylist,
    StreamedBy,
)
from motorpool.actors.messages.publishing import Publish, PublisherLeft
from motorpool.actors.video.sequence_allocator import SequenceAllocator
from motorpool.actors.video.settings import VideoSettings
from motorpool.api.cluster import home_requests
from motorpool.api.http.node_gate import KEY_HEADER, MOVE_ACTIONS
from motorpool.storage.cluster import homes
from motorpool.storage.errors import StorageError
from motorpool.storage.video import captures, stream_marks


@pytest.fixture
async def moving(servers, database, monkeypatch):
    """Two servers: the device streams to the second, and has just connected to the first."""
    monkeypatch.setattr(home_requests, "PLAYLIST_SECONDS", 0.0)
    one, home = servers
    await film(home, home.device_id, 0, 5)
    await connect(database, one, servers)
    return one, home


async def connect(database, server, servers):
    """The device connects to a server, which has its camera started."""
    device_id = servers[1].device_id
    await homes.claim(database, server.node, [device_id])
    for each in servers:
        each.context.home_finder.forget_all()
    stream = server.context.system.ref(STREAM, (device_id, 1))
    for message in (HoldStream(), MoveStream()):
        await stream.tell(message)


def listed(answer):
    """Which segments a playlist lists, each with whether it follows a discontinuity."""
    assert answer.status == 200, answer.text
    playlist = m3u8.loads(answer.text)
    named = [each for each in playlist.segments if each.uri]
    assert [each.uri for each in named] == [
        f"{playlist.media_sequence + number}.ts" for number in range(len(named))
    ]
    return [(int(each.uri.removesuffix(".ts")), bool(each.discontinuity)) for each in named]


async def test_the_former_server_is_read_until_media_come_and_then_its_segments_are_taken_over(moving):
    one, home = moving
    path = f"/stream/{home.device_id}/1"
    for server in moving:
        assert listed(await server.admin.get(f"{path}/live.m3u8")) == [(1, False), (2, False)]
    # Media go on coming there.
    await film(home, home.device_id, 5, 2)
    for server in moving:
        assert listed(await server.admin.get(f"{path}/live.m3u8")) == [(1, False), (2, False), (3, False)]
    segments = {number: (await one.admin.get(f"{path}/{number}.ts")).body for number in (1, 2, 3)}
    part = (await one.admin.get(f"{path}/3.2.ts")).body
    assert all(segments.values())
    assert part
    await film(one, home.device_id, 0, 5)
    for server in moving:
        # The fourth is what was open there.
        assert listed(await server.admin.get(f"{path}/live.m3u8")) == [
            (1, False),
            (2, False),
            (3, False),
            (4, False),
            (5, True),
            (6, False),
        ]
        for number, content in segments.items():
            assert (await server.admin.get(f"{path}/{number}.ts")).body == content
        assert (await server.admin.get(f"{path}/3.2.ts")).body == part
    # The former server has nothing of it any more.
    leaving = home.context.system.ref(STREAM, (home.device_id, 1))
    assert not await leaving.ask(Publish(home.context.system.ref(CONNECTION, 2), is_retry=True))


async def test_what_players_wait_for_comes_from_the_new_server(moving, requests):
    one, home = moving
    path = f"/stream/{home.device_id}/1"
    answers = {}

    async def read(name):
        answers[name] = await one.admin.get(f"{path}/{name}")

    async with trio.open_nursery() as nursery:
        for name in ("live.m3u8?_HLS_msn=4&_HLS_part=0", "live.m3u8?_HLS_msn=3&_HLS_part=3"):
            nursery.start_soon(read, name)
        await requested(requests)
        await wait_all_tasks_blocked()
        # As cameras do that are told to send elsewhere.
        leaving = home.context.system.ref(STREAM, (home.device_id, 1))
        await leaving.tell(PublisherLeft(home.context.system.ref(CONNECTION, 1)))
        await wait_all_tasks_blocked(0.05)
        assert not answers
        await film(one, home.device_id, 0, 2)
    for name, answer in answers.items():
        assert answer.status == 200, name
        assert "4.0.ts" in answer.text


async def test_a_stream_begins_anew_if_the_former_server_does_not_answer(moving, monkeypatch):
    one, home = moving
    path = f"/stream/{home.device_id}/1"
    assert listed(await one.admin.get(f"{path}/live.m3u8")) == [(1, False), (2, False)]

    async def refuse(*_):
        return home_requests.NoAnswer("it has ended")

    monkeypatch.setattr(home_requests.HomeRequests, "_exchange", refuse)
    # Nobody is refused: the reader waits for the new stream.
    with trio.move_on_after(0.2):
        await one.admin.get(f"{path}/live.m3u8")
    await film(one, home.device_id, 0, 5)
    numbers = listed(await one.admin.get(f"{path}/live.m3u8"))
    assert numbers[0] == (1000, True)


async def test_a_stream_begins_anew_if_the_former_server_ends_before_it_hands_it_over(moving, monkeypatch):
    one, home = moving

    async def refuse(*_):
        return home_requests.NoAnswer("it has ended")

    monkeypatch.setattr(home_requests.HomeRequests, "_exchange", refuse)
    await film(one, home.device_id, 0, 5)
    numbers = listed(await one.admin.get(f"/stream/{home.device_id}/1/live.m3u8"))
    assert numbers[0] == (1000, True)


async def test_servers_alone_may_move_streams(moving):
    one, home = moving
    for action in MOVE_ACTIONS:
        path = f"/stream/{home.device_id}/1/{action}"
        for client in (one.admin, home.admin, one.client()):
            assert (await client.post(path)).status == 404
        async with httpx.AsyncClient(base_url=home.listener.url) as client:
            wrong = await client.post(f"/api{path}", headers={KEY_HEADER: one.listener.key})
            assert wrong.status_code == 403
            unknown = await client.post(
                f"/api/stream/{home.device_id}/x/{action}", headers={KEY_HEADER: home.listener.key}
            )
            assert unknown.status_code == 404


async def test_a_server_that_ends_is_not_asked_for_its_streams(moving, database):
    _, home = moving
    assert await stream_marks.servers(database, 0, [home.device_id]) == {(home.device_id, 1): home.node}
    await database.execute("update nodes set state = 'dead' where id = $1", home.node)
    assert await stream_marks.servers(database, 0, [home.device_id]) == {}


async def test_a_capture_goes_on_in_the_same_file(database, tmp_path):
    settings = {"video": VideoSettings(part_seconds=0.5)}
    async with (
        member(database, tmp_path, **settings) as one,
        member(database, tmp_path, is_first=False, **settings) as home,
    ):
        servers = one, home
        home.device_id = await home.device(home.admin, "1")
        await homes.claim(database, home.node, [home.device_id])
        await learned(one, MaySee(0, home.device_id))
        begun = await home.admin.post(
            "/captures", query_string={"deviceId": home.device_id, "channel": 1, "live": "true"}
        )
        assert begun.status == 200, begun.text
        capture = begun.json()
        await film(home, home.device_id, 0, 5)
        await connect(database, one, servers)
        # The first picture; the next one takes its time.
        await film(one, home.device_id, 0, 0)
        with trio.fail_after(PATIENCE):
            while (await captures.fetch(database, capture["id"])).node != one.node:  # noqa: ASYNC110
                await trio.sleep(0.01)
        shown = (await home.admin.get(f"/captures/{capture['id']}")).json()
        assert (shown["status"], shown["reason"]) == ("RECORDING", None)
        await film(one, home.device_id, 1, 4)
        # Any server ends it.
        ended = await home.admin.delete(f"/captures/{capture['id']}")
        assert (ended.status, ended.json()["status"]) == (200, "COMPLETE"), ended.text
        assert ended.json()["reason"] == "ended by a user"
        (listed,) = (await home.admin.get("/captures", query_string={"deviceId": home.device_id})).json()
        assert listed == ended.json()
        film_file = await home.admin.get(listed["url"].removeprefix("/api"))
        assert len(film_file.body) == listed["size"]
        with av.open(io.BytesIO(film_file.body)) as container:
            packets = [packet for packet in container.demux(video=0) if packet.size]
        assert len(packets) == 11 + 1 + 8


async def test_who_relied_on_another_server_gives_no_numbers_back(moving, database):
    one, home = moving
    key = home.device_id, 1
    # It takes the stream over, but nothing comes that can be listed.
    assert await one.context.system.ref(STREAM, key).ask(Publish(one.context.system.ref(CONNECTION, 1)))
    await connect(database, home, moving)
    assert await home.context.system.ref(STREAM, key).ask(ReadPlaylist(start=False)) == StreamedBy(
        await homes.server(database, one.node)
    )
    for server in moving:
        # As at the end of a server.
        handed = await server.context.system.ref(STREAM, key).ask(HandOver())
        assert handed.window.next_index == (4 if server is one else 1)
        assert await stream_marks.reserve(database, *key, "live", 0) == (4, 0)


async def test_a_device_that_comes_back_is_looked_for_where_it_was_last(database, tmp_path):
    settings = {"video": VideoSettings(part_seconds=0.5)}
    async with (
        member(database, tmp_path / "1", **settings) as one,
        member(database, tmp_path / "2", is_first=False, **settings) as home,
        member(database, tmp_path / "3", is_first=False, **settings) as third,
    ):
        home.device_id = await home.device(home.admin, "1")
        servers = one, home, third

        async def connected(server):
            await homes.claim(database, server.node, [home.device_id])
            for each in servers:
                each.context.home_finder.forget_all()
            await server.context.system.ref(STREAM, (home.device_id, 1)).tell(MoveStream())

        await connected(home)
        await film(home, home.device_id, 0, 5)
        await connected(one)  # where no media come
        await connected(third)
        await film(third, home.device_id, 0, 5)
        await connected(one)
        stream = one.context.system.ref(STREAM, (home.device_id, 1))
        streamed = await stream.ask(ReadPlaylist(start=False))
        assert streamed.home.node == third.node


async def test_a_stream_is_taken_over_once_its_numbers_are_known(moving, monkeypatch):
    one, home = moving
    path = f"/stream/{home.device_id}/1/live.m3u8"
    load = SequenceAllocator.load
    outages = [StorageError("away")]

    async def fail_once(self):
        if outages:
            raise outages.pop()
        return await load(self)

    monkeypatch.setattr(SequenceAllocator, "load", fail_once)
    stream = one.context.system.ref(STREAM, (home.device_id, 1))
    with pytest.raises(StorageError):
        await stream.ask(Publish(one.context.system.ref(CONNECTION, 1)))
    # It is still read where it was.
    assert listed(await one.admin.get(path))[:2] == [(1, False), (2, False)]
    await film(one, home.device_id, 0, 5)
    assert listed(await one.admin.get(path)) == [(1, False), (2, False), (3, False), (4, True), (5, False)]


async def test_a_key_frame_that_is_waited_for_comes_with_the_media(database, tmp_path):
    settings = {"video": VideoSettings(part_seconds=0.5, start_seconds=2 * PATIENCE)}
    async with (
        member(database, tmp_path / "1", **settings) as one,
        member(database, tmp_path / "2", is_first=False, **settings) as home,
    ):
        home.device_id = await home.device(home.admin, "1")
        await film(home, home.device_id, 0, 5)
        await connect(database, one, (one, home))
        stream = one.context.system.ref(STREAM, (home.device_id, 1))
        found = []

        async def read():
            found.append(await stream.ask(ReadKeyframe(), seconds=PATIENCE))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await wait_all_tasks_blocked(0.05)
            await film(one, home.device_id, 0, 2)
        assert found[0].payload == KEYFRAME

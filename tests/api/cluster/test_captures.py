"""Captures of a cluster: any server lists them, also after the end of the one that made them."""

from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import trio
from tests.api.cluster.conftest import learned, member
from tests.api.resources.test_captures import start, stream

from motorpool.actors.messages.access import MaySee
from motorpool.actors.video.capture import CAPTURE
from motorpool.actors.video.settings import CaptureSettings
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes


class Servers:
    """Two servers with one folder of files; the device is connected to the second."""

    def __init__(self, one, home, leave, device_id):
        self.one, self.home, self.leave, self.device_id = one, home, leave, device_id

    @property
    def both(self):
        return self.one, self.home

    async def capture(self, **query):
        made = await start(self.one.admin, self.device_id, **query)
        assert (made.status, made.json()["status"]) == (200, "RECORDING"), made.text
        return made.json()

    async def listed(self, server):
        answer = await server.admin.get("/captures", query_string={"deviceId": self.device_id})
        assert answer.status == 200, answer.text
        return answer.json()


@asynccontextmanager
async def open_servers(database, data):
    """`await servers.leave()`: the second server stops in order."""
    settings = {"captures": CaptureSettings(per_device=3)}
    async with member(database, data, **settings) as one, AsyncExitStack() as stack:
        home = await stack.enter_async_context(member(database, data, is_first=False, **settings))
        device_id = await home.device(home.admin, "van 1")
        await homes.claim(database, home.node, [device_id])
        await learned(one, MaySee(0, device_id))
        yield Servers(one, home, stack.aclose, device_id)


@pytest.fixture
async def servers(database, tmp_path):
    async with open_servers(database, tmp_path) as running:
        yield running


async def test_captures_are_made_where_the_device_is_and_known_everywhere(servers, database):
    capture = await servers.capture()
    # It is the user's, and audited as theirs.
    (row,) = await database.fetch("select user_id, address from audit where action_type = 'capture'")
    assert (row[0], row[1]) == (servers.one.admin_id, "127.0.0.1")
    assert servers.home.context.system.keys(CAPTURE) == [capture["id"]]
    for server in servers.both:
        assert await servers.listed(server) == [capture]
        assert (await server.admin.get("/captures")).json() == [capture]
        assert (await server.admin.get(f"/captures/{capture['id']}")).json() == capture
        assert (await server.admin.get("/captures/none%3Fsuch")).status == 404
    ann = await servers.one.user("ann")
    assert (await start(ann, servers.device_id)).status == 404
    for call in (ann.get, ann.delete):
        assert (await call(f"/captures/{capture['id']}")).status == 404
    # The device has moved since: its capture is still where it was made.
    await homes.claim(database, servers.one.node, [servers.device_id])
    servers.one.context.home_finder.forget_all()
    ended = await servers.one.admin.delete(f"/captures/{capture['id']}")
    assert (ended.status, ended.json()["status"]) == (200, "FAILED")
    assert ended.json()["reason"].endswith("ended by a user")
    for server in servers.both:
        assert (await server.admin.get(f"/captures/{capture['id']}")).json() == ended.json()


async def test_after_the_orderly_end_of_its_server_a_capture_is_complete_and_its_file_is_served(
    database, tmp_path
):
    async with open_servers(database, tmp_path) as servers:
        filled, empty, done = [await servers.capture() for _ in range(3)]
        await stream(servers.home, filled, reason="")
        await stream(servers.home, done)
        await servers.leave()
        await check_the_end(servers, filled, empty, done)


async def check_the_end(servers, filled, empty, done):
    found = await servers.listed(servers.one)
    assert [capture["id"] for capture in found] == [done["id"], empty["id"], filled["id"]]
    assert [(capture["status"], capture["reason"]) for capture in found] == [
        ("COMPLETE", "the device ended it"),
        ("FAILED", "nothing came that can be kept: the server was stopped"),
        ("COMPLETE", "the server was stopped"),
    ]
    for capture in (found[0], found[2]):
        film = await servers.one.admin.get(capture["url"].removeprefix("/api"))
        assert (film.status, len(film.body)) == (200, capture["size"])
        again = await servers.one.admin.delete(f"/captures/{capture['id']}")
        assert (again.status, again.json()) == (200, capture)


async def test_parallel_requests_to_two_servers_keep_to_the_limit_and_to_one_end(servers):
    answers = []

    async def begin(server):
        answers.append(await start(server.admin, servers.device_id))

    async with trio.open_nursery() as nursery:
        for server in servers.both * 5:
            nursery.start_soon(begin, server)
    assert sorted(answer.status for answer in answers) == [200] * 3 + [400] * 7
    assert {answer.text for answer in answers if answer.status == 400} == {
        "open captures of one device at once: 3 at most"
    }
    listed = await servers.listed(servers.one)
    assert {capture["id"] for capture in listed} == {
        answer.json()["id"] for answer in answers if answer.status == 200
    }
    await stream(servers.home, listed[0], reason="")
    ends = []

    async def end(server):
        ends.append(await server.admin.delete(f"/captures/{listed[0]['id']}"))

    async with trio.open_nursery() as nursery:
        for server in servers.both * 4:
            nursery.start_soon(end, server)
    assert [answer.status for answer in ends] == [200] * 8
    assert len({answer.text for answer in ends}) == 1
    assert ends[0].json()["status"] == "COMPLETE"


async def test_a_running_capture_is_not_ended_while_its_server_does_not_answer(servers, database):
    capture = await servers.capture()
    await database.execute("update nodes set address = 'http://127.0.0.1:9' where id = $1", servers.home.node)
    ended = await servers.one.admin.delete(f"/captures/{capture['id']}")
    assert (ended.status, ended.headers["Retry-After"]) == (503, "1")
    await nodes.leave(database, servers.home.node)
    ended = await servers.one.admin.delete(f"/captures/{capture['id']}")
    assert (ended.status, ended.text) == (503, "the server that makes it does not answer now")
    assert (await servers.listed(servers.one))[0]["status"] == "RECORDING"
    # The one that makes it goes on answering.
    assert (await servers.home.admin.delete(f"/captures/{capture['id']}")).json()["status"] == "FAILED"

"""Two servers of a cluster in one process, which reach each other over real sockets."""

from collections import Counter
from contextlib import asynccontextmanager

import pytest
import trio
from tests.api.conftest import start

from motorpool.actors.messages.access import ACCESS, MaySee
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.messages.live_stream import STREAM, HoldStream
from motorpool.actors.messages.publishing import Publish, UnitsPublished
from motorpool.actors.video.settings import VideoSettings
from motorpool.api.cluster import stream_moves
from motorpool.api.http.node_gate import NodeGate
from motorpool.api.http.server import open_node_listener
from motorpool.api.login_settings import ShareSettings
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AccessUnit
from motorpool.storage.cluster import homes
from motorpool.storage.cluster.membership import open_membership

PATIENCE = 120.0
KEYFRAME = b"\0\0\0\1\x67\x42\xc0\x1e\0\0\0\1\x68\xce\x38\x80\0\0\0\1\x65" + bytes(range(1, 200))
PICTURE = b"\0\0\0\1\x41" + bytes(range(1, 200))
"""Not decodable, which no segment needs to be."""


@asynccontextmanager
async def member(database, data, **settings):
    """A server of a cluster that the others reach."""
    listener = open_node_listener("http://127.0.0.1:0")
    async with (
        open_membership(
            database, "north", "0", on_dead=lambda: None, address=listener.url, key=listener.key
        ) as node,
        start(database, data=data, listen=True, node=node, nodes=listener, **settings) as served,
    ):
        served.node, served.listener = node, listener
        yield served


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Machines that are busy are waited for."""
    for name in ("ASK_SECONDS", "HAND_OVER_SECONDS"):
        monkeypatch.setattr(stream_moves, name, PATIENCE)


@pytest.fixture
async def servers(database, tmp_path):
    """Two servers; the device of the second belongs to the administrator. Guests see what is recorded."""
    settings = {"video": VideoSettings(part_seconds=0.5), "share": ShareSettings(reports=True)}
    async with (
        member(database, tmp_path / "1", **settings) as one,
        member(database, tmp_path / "2", is_first=False, **settings) as home,
    ):
        home.device_id = await home.device(home.admin, "1")
        await homes.claim(database, home.node, [home.device_id])
        await learned(one, MaySee(0, home.device_id))
        yield one, home


async def learned(served, question):
    """Wait until a server has applied what another one has committed: it answers yes to this question."""
    with trio.fail_after(PATIENCE):
        while not await served.context.system.ref(ACCESS).ask(question):  # noqa: ASYNC110 - the server is asked
            await trio.sleep(0.005)


@pytest.fixture
def requests(monkeypatch):
    """How often each path was requested of a server by another one."""
    counted = Counter()
    serve = NodeGate.__call__

    async def count(self, scope, receive, send):
        query = scope["query_string"].decode()
        counted[scope["path"].removeprefix("/api/stream/") + (f"?{query}" if query else "")] += 1
        await serve(self, scope, receive, send)

    monkeypatch.setattr(NodeGate, "__call__", count)
    return counted


async def film(served, device_id, first, seconds):
    """Two pictures a second come from the device's first camera, of which all are key frames after 2 s.

    So the first segment is as long as the others.
    """
    stream = served.context.system.ref(STREAM, (device_id, 1))
    connection = served.context.system.ref(CONNECTION, 1)
    if not first:
        await stream.tell(HoldStream())
        assert await stream.ask(Publish(connection))
    counts = range(2 * first, 2 * (first + seconds) + (not first))
    units = [
        AccessUnit(1, H264, True, 500 * count, KEYFRAME)
        if count == counts.start or count >= 4
        else AccessUnit(1, H264, False, 500 * count, PICTURE)
        for count in counts
    ]
    await stream.tell(UnitsPublished(connection, units))


async def requested(requests):
    """Wait until a server has been asked by another one."""
    with trio.fail_after(PATIENCE):
        while not requests:  # noqa: ASYNC110 - a counter of the test
            await trio.sleep(0.01)

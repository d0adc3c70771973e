"""A recording played back against a listener that keeps what it hears."""

from pathlib import Path

import msgpack
import pytest
import trio

from motorpool.bench.replay import replay
from motorpool.bench.target import Target
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.errors import CodecError


def pack(**event: object) -> bytes:
    """Pack an event of a recording."""
    return msgpack.packb(event)


async def played(path: Path, nursery: trio.Nursery, speed: float = 1000.0) -> tuple[list[bytes], object]:
    """What each connection brought, in the order of their ends."""
    heard: list[bytes] = []

    async def hear(stream: trio.SocketStream) -> None:
        content = b""
        async with stream:
            while piece := await stream.receive_some(65536):
                content += piece
                await stream.send_all(b"never mind")
        heard.append(content)

    listeners = await nursery.start(
        trio.serve_tcp,
        hear,
        0,
    )
    port = listeners[0].socket.getsockname()[1]
    with trio.fail_after(60):
        result = await replay(path, Target(host="127.0.0.1", port_offset=port - Jt808.port), speed)
        while len(heard) < result.connections - result.failed:
            await trio.lowlevel.checkpoint()
    return heard, result


async def test_each_connection_is_made_again_with_its_own_bytes(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(
        pack(c=1, p="jt808", t=100.0, o="10.0.0.1")
        + pack(c=1, p="jt808", t=100.1, d=b"~one")
        + pack(c=2, p="jt808", t=100.2, o="10.0.0.2")
        + pack(c=1, p="jt808", t=100.3, s=b"~answer~")
        + pack(c=2, p="jt808", t=100.4, d=b"~two~")
        + pack(c=1, p="jt808", t=100.5, d=b"~more~")
        + pack(c=2, t=100.6, e=True)
        + pack(c=1, t=101.0, e=True)
    )
    heard, result = await played(path, nursery)
    assert sorted(heard) == [b"~one~more~", b"~two~"]
    assert (result.connections, result.failed, result.bytes_sent) == (2, 0, 15)


async def test_a_recording_that_was_gone_on_with_replays_both_runs(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    path = tmp_path / "traffic"
    run = [
        pack(c=1, p="jt808", t=50.0, o="10.0.0.1"),
        pack(c=1, p="jt808", t=50.1, d=b"first"),
        pack(c=1, p="jt808", t=3.0, o="10.0.0.1"),
        pack(c=1, p="jt808", t=3.1, d=b"second"),
    ]
    path.write_bytes(b"".join(run))
    heard, _ = await played(path, nursery)
    assert sorted(heard) == [b"first", b"second"]


async def test_pauses_between_chunks_are_kept_at_the_speed_asked_for(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(pack(c=1, p="elsewhere", t=7.0, o="x") + pack(c=1, t=3607.0, e=True))
    begun = trio.current_time()
    await replay(path, Target(host="127.0.0.1"), speed=2.0)
    assert trio.current_time() - begun == pytest.approx(1800, abs=1)


async def test_a_server_that_is_not_there_costs_the_connection_only(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(
        pack(c=1, p="jt808", t=0.0, o="x")
        + pack(c=1, p="jt808", t=0.0, d=b"lost")
        + pack(c=1, t=0.001, e=True)
    )
    # Port 1 is nobody's.
    result = await replay(path, Target(host="127.0.0.1", port_offset=1 - Jt808.port))
    assert (result.connections, result.failed, result.bytes_sent) == (1, 1, 0)


async def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(b"GIF89a")
    with pytest.raises(CodecError):
        await replay(path, Target(host="127.0.0.1"))

"""A recording played back against a listener that keeps what it hears."""

from pathlib import Path

import pytest
import trio

from motorpool.bench.replay import replay
from motorpool.bench.target import Target
from motorpool.codecs import traffic_recording
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.errors import CodecError


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
        traffic_recording.encode_opened(1, "jt808", 100.0, "10.0.0.1")
        + traffic_recording.encode_received(1, "jt808", 100.1, b"~one")
        + traffic_recording.encode_opened(2, "jt808", 100.2, "10.0.0.2")
        + traffic_recording.encode_sent(1, "jt808", 100.3, b"~answer~")
        + traffic_recording.encode_received(2, "jt808", 100.4, b"~two~")
        + traffic_recording.encode_received(1, "jt808", 100.5, b"~more~")
        + traffic_recording.encode_closed(2, 100.6)
        + traffic_recording.encode_closed(1, 101.0)
    )
    heard, result = await played(path, nursery)
    assert sorted(heard) == [b"~one~more~", b"~two~"]
    assert (result.connections, result.failed, result.bytes_sent) == (2, 0, 15)


async def test_a_recording_that_was_gone_on_with_replays_both_runs(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    path = tmp_path / "traffic"
    run = [
        traffic_recording.encode_opened(1, "jt808", 50.0, "10.0.0.1"),
        traffic_recording.encode_received(1, "jt808", 50.1, b"first"),
        traffic_recording.encode_opened(1, "jt808", 3.0, "10.0.0.1"),
        traffic_recording.encode_received(1, "jt808", 3.1, b"second"),
    ]
    path.write_bytes(b"".join(run))
    heard, _ = await played(path, nursery)
    assert sorted(heard) == [b"first", b"second"]


async def test_pauses_between_chunks_are_kept_at_the_speed_asked_for(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(
        traffic_recording.encode_opened(1, "elsewhere", 7.0, "x") + traffic_recording.encode_closed(1, 3607.0)
    )
    begun = trio.current_time()
    await replay(path, Target(host="127.0.0.1"), speed=2.0)
    assert trio.current_time() - begun == pytest.approx(1800, abs=1)


async def test_a_server_that_is_not_there_costs_the_connection_only(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(
        traffic_recording.encode_opened(1, "jt808", 0.0, "x")
        + traffic_recording.encode_received(1, "jt808", 0.0, b"lost")
        + traffic_recording.encode_closed(1, 0.001)
    )
    # Port 1 is nobody's.
    result = await replay(path, Target(host="127.0.0.1", port_offset=1 - Jt808.port))
    assert (result.connections, result.failed, result.bytes_sent) == (1, 1, 0)


async def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    path.write_bytes(b"GIF89a")
    with pytest.raises(CodecError):
        await replay(path, Target(host="127.0.0.1"))

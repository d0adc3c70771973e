"""What devices send, kept in a file."""

import io
from pathlib import Path

import msgpack
import trio

from motorpool.actors.gateway import recorder as recorder_file
from motorpool.actors.gateway.recorder import RECORDER, Recorder, Tap
from motorpool.bench.traffic_recording import Closed, Opened, Received, TrafficRecordingReader
from motorpool.runtime import ChildSpec


def recorder_spec(path):
    return ChildSpec(kind=RECORDER, factory=lambda: Recorder(path))


def entries(path):
    return TrafficRecordingReader().receive(path.read_bytes())


async def test_each_connection_is_kept_with_its_times(tree, tmp_path, time):
    path = tmp_path / "traffic"
    async with tree(recorder_spec(path)) as system:
        one = Tap(system.ref(RECORDER), 1, "jt808", "192.0.2.7")
        await time.passes(2.5)
        two = Tap(system.ref(RECORDER), 2, "osmand", "192.0.2.8")
        one.received(b"first")
        two.received(b"\x00\xff")
        await time.passes(0.25)
        one.closed()
        two.closed()
    begun = entries(path)[0].seconds
    assert entries(path) == [
        Opened(1, "jt808", begun, "192.0.2.7"),
        Opened(2, "osmand", begun + 2.5, "192.0.2.8"),
        Received(1, "jt808", begun + 2.5, b"first"),
        Received(2, "osmand", begun + 2.5, b"\x00\xff"),
        Closed(1, begun + 2.75),
        Closed(2, begun + 2.75),
    ]


async def test_each_event_is_one_map_with_short_keys(tree, tmp_path, time):
    path = tmp_path / "traffic"
    async with tree(recorder_spec(path)) as system:
        begun = trio.current_time()
        tap = Tap(system.ref(RECORDER), 1, "jt808", "10.0.0.7")
        tap.received(b"~\x00~")
        tap.closed()
    assert list(msgpack.Unpacker(io.BytesIO(path.read_bytes()))) == [
        {"c": 1, "p": "jt808", "t": begun, "o": "10.0.0.7"},
        {"c": 1, "p": "jt808", "t": begun, "d": b"~\x00~"},
        {"c": 1, "t": begun, "e": True},
    ]


async def test_it_is_written_once_a_second_and_goes_on_in_the_same_file(tree, tmp_path, time):
    path = tmp_path / "traffic"
    async with tree(recorder_spec(path)) as system:
        Tap(system.ref(RECORDER), 1, "jt808", "").received(b"first")
        await time.settle()
        assert path.read_bytes() == b""
        await time.passes(1.1)
        while not path.read_bytes():
            await trio.testing.wait_all_tasks_blocked(0.01)
        assert len(entries(path)) == 2
    async with tree(recorder_spec(path)) as system:
        Tap(system.ref(RECORDER), 1, "jt808", "")
    assert [type(entry) for entry in entries(path)] == [Opened, Received, Opened]


async def test_past_its_bound_chunks_are_dropped_and_counted(tree, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(recorder_file, "MAX_BUFFERED_BYTES", 10_000)
    path = tmp_path / "traffic"
    async with tree(recorder_spec(path)) as system:
        tap = Tap(system.ref(RECORDER), 1, "jt808", "")
        for _ in range(8):
            tap.received(bytes(2_000))
        await trio.testing.wait_all_tasks_blocked()
        tap.closed()  # small enough to find room
    assert [type(entry) for entry in entries(path)] == [Opened, *[Received] * 4, Closed]
    assert "the recording lost 4 chunks" in caplog.text


async def test_a_full_disk_costs_the_recording_and_nobody_else(tree, caplog):
    async with tree(recorder_spec(Path("/dev/full"))) as system:
        tap = Tap(system.ref(RECORDER), 1, "jt808", "")
        tap.received(b"first")
        await trio.testing.wait_all_tasks_blocked()
        assert system.ref(RECORDER).alive
    assert "the recording lost 2 chunks: [Errno 28]" in caplog.text
    assert "cannot close the recording, its end is lost: [Errno 28]" in caplog.text
    assert "crashed" not in caplog.text

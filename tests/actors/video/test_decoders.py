"""Decoders in processes of their own: real ones, and such that crash, hang and lie."""

import os
import signal
import sys
from contextlib import asynccontextmanager

import pytest
import trio

from motorpool.actors.video.decoders import (
    DECODE_SECONDS,
    DECODERS,
    PROCESSES,
    WAITING_REQUESTS,
    Decoders,
    EncodeJpeg,
    ProbeFormat,
)
from motorpool.actors.video.worker_process import COMMAND, IDLE_SECONDS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.runtime import ChildSpec

SPOILT = b"\0\0\0\1\x65" + bytes(20)
PATIENCE = 1e6
"""For asks: on a busy machine a process may take long to start, and this time does not pass by itself."""


@pytest.fixture
def opened(tree):
    """`async with opened(command) as (ref, decoders):`"""

    @asynccontextmanager
    async def open_decoders(command=COMMAND):
        made = []

        def build():
            made.append(Decoders(command))
            return made[-1]

        spec = ChildSpec(kind=DECODERS, factory=build, mailbox_size=WAITING_REQUESTS)
        async with tree(spec) as system:
            yield system.ref(DECODERS), made[-1]
        assert made[-1].pool.processes == {}

    return open_decoders


def program(lines):
    """A command that runs these lines after it has read a request."""
    read = "import os, signal, sys, time; sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(4)))"
    return (sys.executable, "-I", "-S", "-c", f"{read}\n{lines}")


def exists(pid):
    return os.path.exists(f"/proc/{pid}")


async def gone(pid):
    """Wait until a process has ended and its status was collected: a zombie would still be there."""
    while exists(pid):
        await trio.testing.wait_all_tasks_blocked(0.01)


async def test_key_frames_are_decoded_one_after_another_in_the_same_process(opened, film):
    keyframe = film(1)[0].payload
    async with opened() as (ref, made):
        assert made.pool.processes == {}
        jpeg = await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE)
        assert jpeg.startswith(b"\xff\xd8\xff")
        (pid,) = made.pool.processes
        found = await ref.ask(ProbeFormat(H264, keyframe), PATIENCE)
        assert (found.width, found.height, found.chroma, found.depth) == (64, 64, 1, 8)
        for payload in (b"", SPOILT, keyframe[: len(keyframe) // 4], os.urandom(5000)):
            for request in (EncodeJpeg(H264, payload), ProbeFormat(H265, payload)):
                with pytest.raises(CodecError, match="the key frame does not decode"):
                    await ref.ask(request, PATIENCE)
        assert await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE) == jpeg
        assert list(made.pool.processes) == [pid]
        # A process that is killed while it waits costs nothing.
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        assert await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE) == jpeg
        (later,) = made.pool.processes
        assert later != pid
    assert not exists(later)


async def test_a_decoder_that_hangs_costs_its_key_frame_and_not_the_next_one(opened, film, time, caplog):
    keyframe = film(1)[0].payload
    async with opened() as (ref, made):
        await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE)
        (pid,) = made.pool.processes
        os.kill(pid, signal.SIGSTOP)
        failures = []

        async def ask():
            with pytest.raises(CodecError) as failed:
                await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE)
            failures.append(str(failed.value))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await time.passes(DECODE_SECONDS + 1, step=1)
        assert failures == ["the key frame does not decode: the decoder was stopped after 15 s"]
        assert not exists(pid)
        assert (await ref.ask(EncodeJpeg(H264, keyframe), PATIENCE)).startswith(b"\xff\xd8")
    assert caplog.text.count("the decoder was stopped after 15 s") == 1


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "the decoder ended with SIGKILL"),
        ("os.abort()", "the decoder ended with SIGABRT"),
        ("sys.exit(3)", "the decoder ended with code 3"),
        ("os.write(1, b'abcd' + bytes(100)); time.sleep(999)", "the decoder "),
        ("os.write(1, b'\\0\\0\\0\\1\\xc1'); time.sleep(999)", "the decoder "),
        ("os.write(1, b'\\0\\0\\0\\1abc'); time.sleep(999)", "the decoder "),
        ("os.close(1); time.sleep(999)", "the decoder closed its output"),
    ],
)
async def test_a_decoder_that_crashes_or_lies_is_a_clear_error(opened, time, lines, reason):
    async with opened(program(lines)) as (ref, made):
        failures = []

        async def ask():
            with pytest.raises(CodecError) as failed:
                await ref.ask(EncodeJpeg(H264, b"x"), PATIENCE)
            failures.append(str(failed.value))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            # One that has closed its output is given a second to end. In small steps, so that a process that
            # is slow to start is not stopped before it did anything.
            while not failures:
                await time.passes(0.02)
        assert failures[0].startswith(f"the key frame does not decode: {reason}")
        assert made.pool.processes == {}


async def test_a_program_that_cannot_be_started_is_an_error(opened):
    async with opened(("/nonexistent/decoder",)) as (ref, _):
        with pytest.raises(CodecError, match="the decoder cannot be started"):
            await ref.ask(EncodeJpeg(H264, b"x"), PATIENCE)


async def test_no_more_processes_than_allowed_and_no_more_requests_wait(opened):
    async with opened(program("time.sleep(999)")) as (ref, made), trio.open_nursery() as nursery:
        refused = []

        async def ask(number):
            try:
                await ref.ask(EncodeJpeg(H264, b"x"), PATIENCE)
            except CodecError as error:
                refused.append((number, str(error)))

        for number in range(PROCESSES):
            nursery.start_soon(ask, number)
        while len(made.pool.processes) < PROCESSES:
            await trio.testing.wait_all_tasks_blocked(0.01)
        # One more is in the hand of the distributor.
        for number in range(WAITING_REQUESTS + 1 + 3):
            nursery.start_soon(ask, number)
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert [text for _, text in refused] == ["too many key frames wait to be decoded"] * 3
        assert len(made.pool.processes) == PROCESSES
        pids = list(made.pool.processes)
        nursery.cancel_scope.cancel()
    assert [pid for pid in pids if exists(pid)] == []


async def test_a_process_that_nobody_needs_ends(opened, film, time):
    async with opened() as (ref, made):
        await ref.ask(ProbeFormat(H264, film(1)[0].payload), PATIENCE)
        (pid,) = made.pool.processes
        await time.passes(IDLE_SECONDS - 1, step=1)
        assert exists(pid)
        await time.passes(IDLE_SECONDS, step=1)
        await gone(pid)
        assert made.pool.processes == {}


async def test_a_process_ends_with_its_input_and_cannot_take_all_memory_or_write_files(tmp_path):
    script = (
        "from motorpool.actors.video.media_worker import apply_limits, main\n"
        "apply_limits()\n"
        "try:\n    bytearray(2 << 30)\nexcept MemoryError:\n    print('no memory')\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"try:\n    open({str(tmp_path / 'file')!r}, 'wb', 0).write(b'x')\nexcept OSError:\n"
        "    print('no file')\n"
        "sys_stdout = __import__('sys').stdout.flush()\n"
        "main()\n"
    )
    done = await trio.run_process([sys.executable, "-c", script], stdin=b"", capture_stdout=True)
    assert done.stdout.split(b"\n")[:2] == [b"no memory", b"no file"]


async def test_processes_get_none_of_the_servers_variables(opened, monkeypatch):
    monkeypatch.setenv("MOTORPOOL_ADMIN_PASSWORD", "secret")
    lines = "sys.exit(7 if 'MOTORPOOL_ADMIN_PASSWORD' in os.environ else 8)"
    async with opened(program(lines)) as (ref, _):
        with pytest.raises(CodecError, match="ended with code 8"):
            await ref.ask(EncodeJpeg(H264, b"x"), PATIENCE)

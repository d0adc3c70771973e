"""Sound made AAC in processes of their own: real ones, and such that crash and hang."""

import os
import signal
import sys

import pytest
import trio
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.actors.video.sound import (
    PROCESSES,
    SOUND,
    TRANSCODE_SECONDS,
    Sound,
    SoundTranscoder,
    TranscodeAudio,
)
from motorpool.actors.video.worker_process import COMMAND, IDLE_SECONDS
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime import ChildSpec

PATIENCE = 1e6


def telephone(count, start=0):
    """Frames of 40 ms of G.711."""
    return tuple(
        AudioFrame((start + number) * 3600, AudioCoding.G711A, bytes([0xD5, 0x2A] * 160), 320)
        for number in range(count)
    )


def fragment(frames, *, last=False):
    end = frames[-1].pts + 3600 if frames else 0
    return MediaFragment(0, end, None, (), tuple(frames), False, True, 0.0, last=last)


def processes(sound):
    """The process ids of its running processes."""
    return [pid for pool in sound.pools for pid in pool.processes]


def exists(pid):
    return os.path.exists(f"/proc/{pid}")


@pytest.fixture
def opened(tree):
    """`async with opened(command) as (system, sound):`"""

    class Opened:
        def __init__(self, command=COMMAND):
            self.made = []

            def build():
                self.made.append(Sound(command))
                return self.made[-1]

            self.running = tree(ChildSpec(kind=SOUND, factory=build))

        async def __aenter__(self):
            return await self.running.__aenter__(), self.made[-1]

        async def __aexit__(self, *error):
            pids = list(processes(self.made[-1]))
            done = await self.running.__aexit__(*error)
            assert [pid for pid in pids if exists(pid)] == []
            return done

    return Opened


async def test_each_stream_has_an_encoder_that_lives_from_fragment_to_fragment(opened):
    async with opened() as (system, sound):
        streams = [SoundTranscoder(system) for _ in range(3)]
        expected = FragmentTranscoder()
        for start, last in ((0, False), (25, False), (50, True)):
            piece = fragment(telephone(25, start), last=last)
            wanted = expected.transcode(piece)
            for stream in streams:
                assert await stream.transcode(piece) == wanted
        assert 1 <= len(processes(sound)) <= PROCESSES
        # After the last fragment nothing is held back, and a fragment without sound costs nothing.
        assert not streams[0].is_needed(fragment((), last=True))


async def test_what_is_aac_already_is_left_alone(opened):
    async with opened() as (system, sound):
        stream = SoundTranscoder(system)
        aac = AudioFrame(0, AudioCoding.AAC, b"", 1024)
        for piece in (fragment((aac,)), fragment((aac,), last=True), fragment(())):
            assert await stream.transcode(piece) is piece
        assert processes(sound) == []
        # AAC after telephone sound ends the encoder, which drains what it holds.
        await stream.transcode(fragment(telephone(25)))
        assert stream.is_needed(fragment((aac,)))
        drained = await stream.transcode(fragment((aac,)))
        assert drained.audio_frames[-1] == aac
        assert len(drained.audio_frames) > 1
        assert not stream.is_needed(fragment((aac,)))


async def test_a_process_that_is_killed_costs_nothing_but_what_its_encoders_held(opened):
    async with opened() as (system, sound):
        stream = SoundTranscoder(system)
        before = await stream.transcode(fragment(telephone(25)))
        (pid,) = processes(sound)
        os.kill(pid, signal.SIGKILL)
        while exists(pid):
            await trio.testing.wait_all_tasks_blocked(0.01)
        assert processes(sound) == []
        after = await stream.transcode(fragment(telephone(25, 25)))
        assert before.audio_frames
        assert after.audio_frames[0].pts > before.audio_frames[-1].pts
        assert {frame.coding for frame in after.audio_frames} == {AudioCoding.AAC}


@pytest.mark.parametrize("how", ["hangs", "crashes", "starts not"])
async def test_a_process_that_fails_is_an_error_of_the_fragment_that_it_had(opened, time, caplog, how):
    lines = "import os, sys, time; sys.stdin.buffer.read(4); " + (
        "time.sleep(999)" if how == "hangs" else "os.abort()"
    )
    command = (sys.executable, "-I", "-S", "-c", lines) if how != "starts not" else ("/nonexistent",)
    async with opened(command) as (system, sound):
        stream = SoundTranscoder(system)
        failures = []

        async def transcode():
            with pytest.raises(CodecError) as failed:
                await stream.transcode(fragment(telephone(2)))
            failures.append(str(failed.value))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(transcode)
            if how == "hangs":
                while not processes(sound):
                    await time.settle()
                await time.passes(TRANSCODE_SECONDS + 1)
            while not failures:
                # No time passes while the process starts and ends, which takes real time.
                await time.settle()
        reason = {
            "hangs": f"was stopped after {TRANSCODE_SECONDS:g} s",
            "crashes": "ended with SIGABRT",
            "starts not": "cannot be started",
        }[how]
        assert failures[0].startswith(f"its sound cannot be transcoded: the process for it {reason}")
        assert processes(sound) == []
        assert f"the process for sound {reason}" in caplog.text


async def test_a_process_that_nobody_needs_ends(opened, time):
    async with opened() as (system, sound):
        await system.ref(SOUND).ask(TranscodeAudio(1, telephone(2), True), PATIENCE)
        (pid,) = processes(sound)
        await time.passes(IDLE_SECONDS - 1, step=1)
        assert exists(pid)
        await time.passes(2, step=1)
        while processes(sound):
            await trio.testing.wait_all_tasks_blocked(0.01)
        assert not exists(pid)

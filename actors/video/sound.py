"""Transcodes telephone audio to AAC in separate processes, a stream always in the same one.

A stream's encoder lives in the process from fragment to fragment. A process that fails costs the fragment
that it had; the other streams' encoders begin anew in the next one.
"""

import itertools
from collections.abc import Sequence

import msgspec
import trio

from motorpool.actors.messages.counters import WORKERS_FAILED
from motorpool.actors.video.media_worker import AudioTranscoded, Rejected, TranscodeRequest
from motorpool.actors.video.worker_process import COMMAND, WorkerFailedError, WorkerProcess, WorkerProcesses
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_transcoding import with_audio
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime import (
    Actor,
    ActorError,
    Deferred,
    Failure,
    Kind,
    NodeLocal,
    Request,
    System,
)

PROCESSES = 2
"""Each keeps the encoders of 400 streams."""
TRANSCODE_SECONDS = 15.0
"""Limit of one request, the start of its process included; usually it takes a millisecond."""
IDLE_SECONDS = 60.0
"""How long an unused process is kept."""
WAITING_REQUESTS = 1000
"""Requests that wait for one process; further ones fail at once."""


class TranscodeAudio(msgspec.Struct, Request[tuple[AudioFrame, ...]], NodeLocal, frozen=True, gc=False):
    """Return this audio of a stream as AAC; raises CodecError in the asker where that fails."""

    stream: int
    frames: tuple[AudioFrame, ...]
    last: bool
    """The encoder is drained and forgotten."""


SOUND: Kind[None, TranscodeAudio] = Kind("sound")

_Reply = Deferred[tuple[AudioFrame, ...]]
_numbers = itertools.count()


class Sound(Actor[TranscodeAudio]):
    """Distributes streams among `PROCESSES` processes."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """`command` starts a process."""
        self._queues = [
            trio.open_memory_channel[tuple[TranscodeAudio, _Reply]](WAITING_REQUESTS)
            for _ in range(PROCESSES)
        ]
        self.processes = WorkerProcesses(command)
        """Running processes."""

    def handle(self, message: TranscodeAudio) -> object:
        """Queue a request; the reply comes later."""
        reply = _Reply()
        try:
            self._queues[message.stream % PROCESSES][0].send_nowait((message, reply))
        except trio.WouldBlock:
            return Failure(CodecError("its sound cannot be transcoded: too much waits for that already"))
        return reply

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        async with trio.open_nursery() as nursery:
            for _, queue in self._queues:
                nursery.start_soon(self._serve, nursery, queue)

    async def _serve(
        self, nursery: trio.Nursery, queue: "trio.MemoryReceiveChannel[tuple[TranscodeAudio, _Reply]]"
    ) -> None:
        process: WorkerProcess | None = None
        try:
            while True:
                with trio.move_on_after(IDLE_SECONDS if process is not None else float("inf")) as idle:
                    message, reply = await queue.receive()
                if idle.cancelled_caught:
                    assert process is not None
                    await self.processes.end(process)
                    process = None
                    continue
                try:
                    with trio.fail_after(TRANSCODE_SECONDS):
                        if process is None or process.has_ended:
                            process = None
                            process = await self.processes.start(nursery)
                        request = TranscodeRequest(message.stream, message.frames, message.last)
                        found = await process.request(request, AudioTranscoded)
                except (WorkerFailedError, trio.TooSlowError) as error:
                    reply.answer(Failure(await self._failed(process, error)))
                    process = None
                else:
                    reply.answer(
                        Failure(CodecError(found.reason)) if isinstance(found, Rejected) else found.frames
                    )
        finally:
            if process is not None:
                await self.processes.end(process)

    async def _failed(
        self, process: WorkerProcess | None, error: WorkerFailedError | trio.TooSlowError
    ) -> CodecError:
        reason = await self.processes.end_failed(process, error, TRANSCODE_SECONDS)
        WORKERS_FAILED.labels("sound").inc()
        self.context.log.warning("the process for sound %s", reason)
        return CodecError(f"its sound cannot be transcoded: the process for it {reason}")


class SoundTranscoder:
    """Makes the audio of one stream AAC; fragments in order, one at a time."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._stream = next(_numbers)
        self._is_open = False
        """Whether an encoder may hold audio back for the next fragment."""

    def is_needed(self, fragment: MediaFragment) -> bool:
        """Whether `transcode` does anything with this fragment."""
        return fragment.needs_transcoding or (
            self._is_open and (fragment.last or bool(fragment.audio_frames))
        )

    async def transcode(self, fragment: MediaFragment) -> MediaFragment:
        """Return the fragment with AAC alone.

        Raises:
            CodecError: it cannot be transcoded; the stream's next fragment may be.
        """
        if not self.is_needed(fragment):
            return fragment
        request = TranscodeAudio(self._stream, fragment.audio_frames, fragment.last)
        was_open, self._is_open = self._is_open, False
        try:
            frames = await self._system.ref(SOUND).ask(request, 2 * TRANSCODE_SECONDS)
        except ActorError as error:
            raise CodecError(f"its sound cannot be transcoded: {error}") from error
        if fragment.audio_frames:
            was_open = fragment.audio_frames[-1].coding is not AudioCoding.AAC
        self._is_open = was_open and not fragment.last
        return with_audio(fragment, frames)

"""Transcodes telephone audio to AAC in separate processes, a stream always in the same one.

A stream's encoder lives in the process from fragment to fragment. A process that fails costs the fragment
that it had; the other streams' encoders begin anew in the next one.
"""

import itertools
from collections.abc import Sequence

import msgspec
import trio

from motorpool.actors.messages.counters import WORKERS_FAILED
from motorpool.actors.video.media_worker import TranscodeRequest
from motorpool.actors.video.worker_process import COMMAND, WorkerFailure, WorkerPool
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_transcoding import with_audio
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding
from motorpool.runtime import (
    Actor,
    ActorError,
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
WAITING_REQUESTS = 1000
"""Requests that wait for one process; further ones fail at once."""


class TranscodeAudio(msgspec.Struct, Request[tuple[AudioFrame, ...]], NodeLocal, frozen=True, gc=False):
    """Return this audio of a stream as AAC; raises CodecError in the asker where that fails."""

    stream: int
    frames: tuple[AudioFrame, ...]
    last: bool
    """The encoder is drained and forgotten."""


SOUND: Kind[None, TranscodeAudio] = Kind("sound")

_numbers = itertools.count()


class Sound(Actor[TranscodeAudio]):
    """Distributes streams among `PROCESSES` processes."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """`command` starts a process."""
        self.pools = [
            WorkerPool(
                command,
                size=1,
                waiting=WAITING_REQUESTS,
                seconds=TRANSCODE_SECONDS,
                on_failure=self._failed,
            )
            for _ in range(PROCESSES)
        ]

    def handle(self, message: TranscodeAudio) -> object:
        """Queue a request; the reply comes later."""
        request = TranscodeRequest(message.stream, message.frames, message.last)
        reply = self.pools[message.stream % PROCESSES].put(request, tuple)
        return reply or Failure(CodecError("its sound cannot be transcoded: too much waits for that already"))

    async def run(self) -> None:
        """Serve requests until cancelled; then no process is left."""
        async with trio.open_nursery() as nursery:
            for pool in self.pools:
                nursery.start_soon(pool.run)

    def _failed(self, failure: WorkerFailure) -> CodecError:
        WORKERS_FAILED.labels("sound").inc()
        self.context.log.warning("the process for sound %s", failure.reason)
        return CodecError(f"its sound cannot be transcoded: the process for it {failure.reason}")


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

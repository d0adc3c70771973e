"""A process that decodes pictures and sound of cameras: a decoder that crashes or hangs must not do so in the
server.

`actors/video/worker_process.py` starts it as `python -m motorpool.actors.video.media_worker`. Requests arrive
on standard input and each is replied to on standard output, both as MessagePack behind a length of four
bytes. It ends with its input.

Imports little, since it is started on demand.
"""

import os
import resource
import sys
from collections import OrderedDict
from contextlib import suppress
from typing import BinaryIO, Literal

import msgspec

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.audio_transcoding import AudioTranscoder
from motorpool.codecs.media.fragments import AudioFrame
from motorpool.codecs.media.renditions import encode_picture, film_length, write_film
from motorpool.codecs.media.snapshot import encode_jpeg, probe_format
from motorpool.codecs.media.video_codec import PictureFormat

LENGTH_BYTES = 4
"""Length of the big-endian number before each message."""
MEMORY_BYTES = 1 << 30
"""Address space of the process; a picture of 8K takes 550 MB with the program, a stream's sound 1.2 MB."""
NICENESS = 10
"""Of a process that makes renditions of files: live video goes first."""
WRITES_FILES = "files"
"""Argument of a process that makes renditions."""
CPU_SECONDS = 20
"""Processor time of one request, in case that nobody is left who ends the process."""


STREAMS = 400
"""Streams whose encoder of sound is kept; the one that was silent longest begins anew."""


class DecodeRequest(msgspec.Struct, frozen=True, tag=True):
    """Decode a key frame that holds its parameter sets."""

    operation: Literal["jpeg", "format"]
    decoder_name: str
    """By FFmpeg."""
    keyframe: bytes


class TranscodeRequest(msgspec.Struct, frozen=True, tag=True):
    """Make this audio AAC, after the earlier one of the same stream."""

    stream: int
    frames: tuple[AudioFrame, ...]
    last: bool
    """Return also what the encoder holds back."""


class RenditionRequest(msgspec.Struct, frozen=True, tag=True):
    """Make a rendition of a file, or tell how long a film lasts (codecs/media/renditions.py)."""

    operation: Literal["picture", "film", "length"]
    path: str
    file_format: str
    target: str = ""
    """The path of an empty file for the film."""
    target_bytes: int = 0
    """Most bytes of the film."""


class Done(msgspec.Struct, frozen=True, tag=True):
    """What a request has made."""

    result: bytes | int | PictureFormat | tuple[AudioFrame, ...]
    """The image for `jpeg` and `picture`, the format for `format`, AAC for a `TranscodeRequest`; nothing for
    `film`, milliseconds for `length`."""


class Rejected(msgspec.Struct, frozen=True, tag=True):
    """FFmpeg rejects it."""

    reason: str


WorkerReply = Done | Rejected
WorkerRequest = DecodeRequest | TranscodeRequest | RenditionRequest


def apply_limits(*, writes_files: bool = False) -> None:
    """Limit what the process may use, whatever a picture makes its decoder do.

    One that `writes_files` is not urgent, and gives way to what is.
    """
    if writes_files:
        os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY if writes_files else 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        # Where memory is short, the kernel ends this process and not the server.
        score.write("1000")


def main() -> None:
    """Serve requests until the input ends."""
    requests = sys.stdin.buffer
    # What a library prints must not get between the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    apply_limits(writes_files=WRITES_FILES in sys.argv[1:])
    decoder: msgspec.msgpack.Decoder[WorkerRequest] = msgspec.msgpack.Decoder(WorkerRequest)
    work = Work()
    while content := _read_message(requests):
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        reply = msgspec.msgpack.encode(work.reply_to(decoder.decode(content)))
        replies.write(len(reply).to_bytes(LENGTH_BYTES))
        replies.write(reply)
        replies.flush()


class Work:
    """What is done for requests, and the encoders of sound that live from request to request."""

    def __init__(self) -> None:
        self._transcoders: OrderedDict[int, AudioTranscoder] = OrderedDict()

    def reply_to(self, request: WorkerRequest) -> WorkerReply:
        """Return the reply to a request."""
        try:
            if isinstance(request, TranscodeRequest):
                return Done(self._transcode(request))
            if isinstance(request, RenditionRequest):
                return Done(_make_rendition(request))
            if request.operation == "jpeg":
                return Done(encode_jpeg(request.decoder_name, request.keyframe))
            return Done(probe_format(request.decoder_name, request.keyframe))
        except CodecError as error:
            return Rejected(str(error))

    def _transcode(self, request: TranscodeRequest) -> tuple[AudioFrame, ...]:
        transcoder = self._transcoders.pop(request.stream, None) or AudioTranscoder()
        transcoded = transcoder.transcode(request.frames, last=request.last)
        if not request.last:
            self._transcoders[request.stream] = transcoder
            if len(self._transcoders) > STREAMS:
                self._transcoders.popitem(last=False)
        return transcoded


def _make_rendition(request: RenditionRequest) -> bytes | int:
    if request.operation == "length":
        return film_length(request.path, request.file_format)
    if request.operation == "picture":
        return encode_picture(request.path, request.file_format)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (request.target_bytes, most))
    try:
        write_film(request.path, request.file_format, request.target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    return b""


def _read_message(requests: BinaryIO) -> bytes:
    """Return the next message; empty at the end of the input."""
    return requests.read(int.from_bytes(requests.read(LENGTH_BYTES)))


if __name__ == "__main__":
    main()

"""Audio as HLS and MP4 carry it: AAC as it came, telephone codings transcoded, in order across fragments."""

import itertools
from collections.abc import Sequence

import av
import msgspec

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.aac import AacTranscoder
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding


class AudioTranscoder:
    """Makes all audio of one stream AAC; keeps its encoder from fragment to fragment.

    For one thread at a time. Blocking: 3 ms for a second of audio that is not AAC.
    """

    def __init__(self) -> None:
        self._transcoder: AacTranscoder | None = None

    def transcode(self, audio_frames: Sequence[AudioFrame], *, last: bool) -> tuple[AudioFrame, ...]:
        """Return the audio of a fragment as AAC.

        The encoder holds up to two frames back for the next fragment, none after the last.

        Raises:
            CodecError: FFmpeg rejects the audio; the stream's next fragment may do.
        """
        try:
            return tuple(self._transcode(audio_frames, last=last))
        except av.FFmpegError as error:
            self._transcoder = None
            raise CodecError(f"its sound cannot be transcoded: {error}") from error

    def _transcode(self, audio_frames: Sequence[AudioFrame], *, last: bool) -> list[AudioFrame]:
        transcoded: list[AudioFrame] = []
        for layout, frames in itertools.groupby(audio_frames, _layout):
            if self._transcoder is not None and self._transcoder.layout != layout:
                transcoded += self._transcoder.drain()
                self._transcoder = None
            if layout[0] is AudioCoding.AAC:
                transcoded += frames
                continue
            if self._transcoder is None:
                self._transcoder = AacTranscoder(*layout)
            transcoded += self._transcoder.transcode(list(frames))
        if last and self._transcoder is not None:
            transcoded += self._transcoder.drain()
            self._transcoder = None
        return transcoded


def with_audio(fragment: MediaFragment, audio_frames: tuple[AudioFrame, ...]) -> MediaFragment:
    """Return the fragment with its audio transcoded."""
    has_audio = fragment.has_audio or bool(fragment.audio_frames)
    return msgspec.structs.replace(fragment, audio_frames=audio_frames, has_audio=has_audio)


def _layout(frame: AudioFrame) -> tuple[AudioCoding, int]:
    return frame.coding, frame.g726_bits

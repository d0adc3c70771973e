"""Sound as HLS and MP4 carry it: AAC as it came, telephone sound transcoded, in order across cuts."""

import itertools

import av
import msgspec

from motorpool.codecs.errors import CodecError
from motorpool.codecs.media.aac import Transcoder
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import Coding

__all__ = ["SoundCarrier"]


class SoundCarrier:
    """Keeps the encoder of one stream from cut to cut.

    For one thread at a time. Blocking: 3 ms a second of sound where a cut needs transcoding.
    """

    def __init__(self) -> None:
        self._transcoder: Transcoder | None = None

    def carry(self, cut: MediaFragment) -> MediaFragment:
        """The cut with AAC alone; up to two frames stay behind for the next cut, none after the last.

        Raises:
            CodecError: FFmpeg does not take the sound; the stream's next cut may do.
        """
        if not cut.needs_transcoding and self._transcoder is None:
            return cut
        try:
            carried = self._transcode(cut)
        except av.FFmpegError as error:
            self._transcoder = None
            raise CodecError(f"its sound cannot be transcoded: {error}") from error
        return msgspec.structs.replace(
            cut, sounds=tuple(carried), has_sound=cut.has_sound or bool(cut.sounds)
        )

    def _transcode(self, cut: MediaFragment) -> list[AudioFrame]:
        carried: list[AudioFrame] = []
        for coding, run in itertools.groupby(cut.sounds, _layout):
            if self._transcoder is not None and self._transcoder.layout != coding:
                carried += self._transcoder.drain()
                self._transcoder = None
            if coding[0] is Coding.AAC:
                carried += run
                continue
            if self._transcoder is None:
                self._transcoder = Transcoder(*coding)
            carried += self._transcoder.transcode(list(run))
        if cut.last and self._transcoder is not None:
            carried += self._transcoder.drain()
            self._transcoder = None
        return carried


def _layout(sound: AudioFrame) -> tuple[Coding, int]:
    return sound.coding, sound.g726_bits

"""Sound as HLS and MP4 carry it: AAC as it came, telephone sound transcoded, in order across cuts."""

import itertools

from motorpool.codecs.media.audio import Transcoder
from motorpool.codecs.media.cuts import Cut, Sound
from motorpool.codecs.media.units import Coding

__all__ = ["SoundCarrier"]


class SoundCarrier:
    """Keeps the encoder of one stream from cut to cut. Blocking where a cut needs transcoding."""

    def __init__(self) -> None:
        self._transcoder: Transcoder | None = None

    def carry(self, cut: Cut) -> list[Sound]:
        """The cut's sound as AAC; up to two frames stay behind for the next cut, none after the last."""
        if not cut.needs_transcoding and self._transcoder is None:
            return list(cut.sounds)
        carried: list[Sound] = []
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


def _layout(sound: Sound) -> tuple[Coding, int]:
    return sound.coding, sound.g726_bits

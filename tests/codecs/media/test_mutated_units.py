"""Pictures and sound that were changed on their way: from the packets to a segment and a file of a capture,
nothing but the errors of codecs.
"""

import io
import random
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fragment_transcoder import FragmentTranscoder

from motorpool.bench.load.mutations import mutated
from motorpool.codecs.errors import CodecError
from motorpool.codecs.media import annexb, h264, h265
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.parser import Jt1078Parser
from motorpool.codecs.media.jt1078.sender import Jt1078Sender
from motorpool.codecs.media.mp4.capture_file import CaptureFile
from motorpool.codecs.media.muxer import mux
from motorpool.codecs.media.segmenter import Segmenter
from motorpool.codecs.media.snapshot import probe_format
from motorpool.codecs.media.units import AccessUnit, AudioCoding, Coding
from motorpool.codecs.media.video_codec import PictureFormat, VideoCodec

SIM = "13912345678"
SOUNDS = (AudioCoding.AAC, AudioCoding.G711A, AudioCoding.G711U, AudioCoding.G726, AudioCoding.ADPCM)
seeds = st.integers(0, 2**32)


class Consumer:
    """What a live stream and a capture make of a connection's bytes."""

    def __init__(self) -> None:
        self.parser = Jt1078Parser()
        self.segmenter = Segmenter(0.2)
        self.transcoder = FragmentTranscoder()
        self.formats: dict[VideoCodec, PictureFormat] = {}
        self.capture = CaptureFile(io.BytesIO(), self.formats)
        self.units = 0

    def receive(self, data: bytes, now: float) -> None:
        for found in self.parser.receive(data):
            if isinstance(found, AccessUnit):
                self.units += 1
                self._consume(self.segmenter.push(found, now))

    def end(self) -> None:
        self._consume(self.segmenter.flush())
        self.capture.finish()

    def _consume(self, fragment) -> None:
        if fragment is None:
            return
        try:
            fragment = self.transcoder.transcode(fragment)
        except CodecError:
            fragment = msgspec.structs.replace(fragment, audio_frames=())
        with suppress(CodecError):
            mux(fragment)
        if fragment.coding is not None and fragment.coding not in self.formats:
            with suppress(CodecError):
                keyframe = fragment.pictures[0].payload
                self.formats[fragment.coding] = probe_format(fragment.coding.ffmpeg_name, keyframe)
        encoded = self.capture.encode(fragment)
        if encoded is not None:
            self.capture.write(encoded)


def units_of(film, coding: Coding, sound: Coding) -> list[AccessUnit]:
    units = []
    for number, picture in enumerate(film(coding, 12, 4)):
        at = 1000 + 40 * number
        units.append(AccessUnit(1, coding, number % 4 == 0, at, picture, 40))
        units.append(AccessUnit(1, sound, False, at, bytes(range(160))))
    return units


@pytest.mark.parametrize("coding", [H264, H265])
@settings(max_examples=60)
@given(seed=seeds, sound=st.sampled_from(SOUNDS))
def test_mutated_units_raise_only_codec_errors(film, coding, seed, sound):
    source = random.Random(seed)
    sender, consumer = Jt1078Sender(SIM), Consumer()
    for number, unit in enumerate(units_of(film, coding, sound)):
        payload = mutated(source, unit.payload) if source.random() < 0.5 else unit.payload
        packets = sender.encode(AccessUnit(1, unit.coding, unit.keyframe, unit.timestamp, payload, 40))
        consumer.receive(packets, number / 50)
    consumer.end()
    assert consumer.units > 0


@pytest.mark.parametrize("coding", [H264, H265])
@settings(max_examples=60)
@given(seed=seeds, sound=st.sampled_from(SOUNDS))
def test_mutated_packets_raise_only_codec_errors(film, coding, seed, sound):
    source = random.Random(seed)
    sender, consumer = Jt1078Sender(SIM), Consumer()
    with suppress(CodecError):
        for number, unit in enumerate(units_of(film, coding, sound)):
            packets = sender.encode(unit)
            consumer.receive(mutated(source, packets) if source.random() < 0.3 else packets, number / 50)
    consumer.end()


@settings(max_examples=300)
@given(seed=seeds)
@pytest.mark.parametrize(("coding", "module"), [(H264, h264), (H265, h265)])
def test_mutated_pictures_are_scanned(film, coding, module, seed):
    source = random.Random(seed)
    payload = source.choice(film(coding, 12, 4))[:600]
    for _ in range(source.randint(1, 3)):
        payload = mutated(source, payload)
    scanned = module.scan(payload)
    if scanned.has_picture:
        assert annexb.insert_units(payload, list(scanned.sets.values()), module.is_delimiter)

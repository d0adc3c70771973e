"""The video codecs agree with what else names codecs and containers."""

import pytest

from motorpool.codecs.media import annexb, h264, h265
from motorpool.codecs.media.fragments import MediaFragment, TimedPicture
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.h265 import H265
from motorpool.codecs.media.jt1078.packet_header import VIDEO_CODECS, recognize_codec
from motorpool.codecs.media.muxer import CONTAINERS, mux


@pytest.mark.parametrize("codec", VIDEO_CODECS.values())
def test_a_segment_is_in_a_container_that_is_served_and_its_key_frame_tells_the_codec(codec, film) -> None:
    (keyframe, *_) = film(codec, 2, 2)
    pictures = (TimedPicture(900_000, keyframe, True),)
    segment = mux(MediaFragment(900_000, 903_600, codec, pictures, (), False, True, 0.0))
    assert segment.container is codec.container
    assert segment.container in CONTAINERS
    assert recognize_codec(keyframe) is codec


@pytest.mark.parametrize(("codec", "module", "required"), [(H264, h264, {7, 8}), (H265, h265, {32, 33, 34})])
def test_missing_sets_are_put_in_front_so_that_a_key_frame_decodes(codec, module, required, film) -> None:
    (keyframe, *_) = film(codec, 2, 2)
    found = module.scan(keyframe)
    assert found.keyframe
    assert required <= {nal_type for nal_type, _ in found.sets}
    last = list(found.sets.values())[-1]
    first_slice = keyframe[keyframe.index(last) + len(last) :]
    assert not module.scan(first_slice).sets
    restored = annexb.insert_units(first_slice, list(found.sets.values()), module.is_delimiter)
    assert module.scan(restored) == found
    parser = codec.make_parser()
    parser.push(keyframe)
    assert parser.push(first_slice).payload == restored

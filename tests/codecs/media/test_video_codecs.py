"""The table of video codecs agrees with what else names codecs and containers."""

import pytest

from motorpool.codecs.media.containers import CONTAINERS
from motorpool.codecs.media.fragments import MediaFragment, TimedPicture
from motorpool.codecs.media.muxer import mux
from motorpool.codecs.media.units import Coding
from motorpool.codecs.media.video_codecs import VIDEO_CODECS, sniff


def test_the_table_has_the_codings_of_pictures_and_no_others() -> None:
    assert set(VIDEO_CODECS) == {coding for coding in Coding if coding.is_video}
    assert all(codec.coding is coding for coding, codec in VIDEO_CODECS.items())


@pytest.mark.parametrize("coding", list(VIDEO_CODECS))
def test_a_segment_is_in_a_container_that_is_served_and_its_key_frame_tells_the_codec(coding, film) -> None:
    (keyframe, *_) = film(coding, 2, 2)
    pictures = (TimedPicture(900_000, keyframe, True),)
    segment = mux(MediaFragment(900_000, 903_600, coding, pictures, (), False, True, 0.0))
    assert segment.container is VIDEO_CODECS[coding].segment_container
    assert segment.container in CONTAINERS
    assert sniff(keyframe) is coding


@pytest.mark.parametrize("coding", list(VIDEO_CODECS))
def test_missing_sets_are_put_in_front_so_that_a_key_frame_decodes(coding, film) -> None:
    codec = VIDEO_CODECS[coding]
    (keyframe, *_) = film(coding, 2, 2)
    found = codec.scan(keyframe)
    assert found.keyframe
    assert codec.required_sets <= {nal_type for nal_type, _ in found.sets}
    first_slice = keyframe[
        keyframe.index(list(found.sets.values())[-1]) + len(list(found.sets.values())[-1]) :
    ]
    assert not codec.scan(first_slice).sets
    restored = codec.scan(codec.insert_sets(first_slice, list(found.sets.values())))
    assert restored == found

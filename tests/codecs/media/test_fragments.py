from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import Coding


def cut(*codings: Coding) -> MediaFragment:
    sounds = tuple(AudioFrame(0, coding, b"\0", 1) for coding in codings)
    return MediaFragment(0, 1, None, (), sounds, False, True, 0.0)


def test_only_sound_that_hls_cannot_carry_needs_a_thread() -> None:
    assert not cut().needs_transcoding
    assert not cut(Coding.AAC, Coding.AAC).needs_transcoding
    assert cut(Coding.AAC, Coding.G711A).needs_transcoding

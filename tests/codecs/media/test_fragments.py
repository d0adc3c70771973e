from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding, Coding


def fragment(*codings: Coding) -> MediaFragment:
    sounds = tuple(AudioFrame(0, coding, b"\0", 1) for coding in codings)
    return MediaFragment(0, 1, None, (), sounds, False, True, 0.0)


def test_only_sound_that_hls_cannot_carry_needs_a_thread() -> None:
    assert not fragment().needs_transcoding
    assert not fragment(AudioCoding.AAC, AudioCoding.AAC).needs_transcoding
    assert fragment(AudioCoding.AAC, AudioCoding.G711A).needs_transcoding

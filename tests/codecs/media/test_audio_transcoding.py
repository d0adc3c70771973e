from tests.fragment_transcoder import FragmentTranscoder

from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import AudioCoding

SECOND = 90_000


def cut_of(*sounds: AudioFrame, last: bool = False) -> MediaFragment:
    return MediaFragment(SECOND, 2 * SECOND, None, (), sounds, False, True, 0.0, last)


def telephone(count: int) -> tuple[AudioFrame, ...]:
    """Units of 40 ms."""
    return tuple(AudioFrame(SECOND + 3600 * n, AudioCoding.G711A, b"\xd5" * 320, 320) for n in range(count))


def test_aac_is_carried_as_it_came() -> None:
    sounds = tuple(AudioFrame(SECOND + 11_520 * n, AudioCoding.AAC, b"frame", 1024) for n in range(3))
    fragment = cut_of(*sounds)
    assert FragmentTranscoder().transcode(fragment).audio_frames == sounds


def test_what_stays_in_the_encoder_comes_with_the_next_cut_and_all_of_it_after_the_last() -> None:
    transcoder = FragmentTranscoder()
    first = transcoder.transcode(cut_of(*telephone(25))).audio_frames
    last = transcoder.transcode(cut_of(last=True)).audio_frames
    # 8,000 samples and the encoder's own 1024 before them, in frames of 1024.
    assert len(first) >= 6
    assert len(first) + len(last) == 9
    assert {sound.coding for sound in first + last} == {AudioCoding.AAC}
    assert [sound.pts for sound in first + last] == [SECOND + 11_520 * (n - 1) for n in range(9)]


def test_aac_after_telephone_sound_comes_behind_what_the_encoder_still_held() -> None:
    aac = AudioFrame(2 * SECOND, AudioCoding.AAC, b"frame", 1024)
    transcoded = FragmentTranscoder().transcode(cut_of(*telephone(25), aac)).audio_frames
    assert transcoded[-1] == aac
    assert len(transcoded) == 10


def test_a_cut_whose_sound_all_stays_in_the_encoder_still_has_sound() -> None:
    transcoded = FragmentTranscoder().transcode(cut_of(*telephone(1)))
    assert (transcoded.audio_frames, transcoded.has_audio) == ((), True)

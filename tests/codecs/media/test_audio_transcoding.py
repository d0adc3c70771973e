from motorpool.codecs.media.audio_transcoding import SoundCarrier
from motorpool.codecs.media.fragments import AudioFrame, MediaFragment
from motorpool.codecs.media.units import Coding

SECOND = 90_000


def cut_of(*sounds: AudioFrame, last: bool = False) -> MediaFragment:
    return MediaFragment(SECOND, 2 * SECOND, None, (), sounds, False, True, 0.0, last)


def telephone(count: int) -> tuple[AudioFrame, ...]:
    """Units of 40 ms."""
    return tuple(AudioFrame(SECOND + 3600 * n, Coding.G711A, b"\xd5" * 320, 320) for n in range(count))


def test_aac_is_carried_as_it_came() -> None:
    sounds = tuple(AudioFrame(SECOND + 11_520 * n, Coding.AAC, b"frame", 1024) for n in range(3))
    cut = cut_of(*sounds)
    assert SoundCarrier().carry(cut) is cut


def test_what_stays_in_the_encoder_comes_with_the_next_cut_and_all_of_it_after_the_last() -> None:
    carrier = SoundCarrier()
    first = carrier.carry(cut_of(*telephone(25))).sounds
    last = carrier.carry(cut_of(last=True)).sounds
    # 8,000 samples and the encoder's own 1024 before them, in frames of 1024.
    assert len(first) >= 6
    assert len(first) + len(last) == 9
    assert {sound.coding for sound in first + last} == {Coding.AAC}
    assert [sound.pts for sound in first + last] == [SECOND + 11_520 * (n - 1) for n in range(9)]


def test_aac_after_telephone_sound_comes_behind_what_the_encoder_still_held() -> None:
    aac = AudioFrame(2 * SECOND, Coding.AAC, b"frame", 1024)
    carried = SoundCarrier().carry(cut_of(*telephone(25), aac)).sounds
    assert carried[-1] == aac
    assert len(carried) == 10


def test_a_cut_whose_sound_all_stays_in_the_encoder_still_has_sound() -> None:
    carried = SoundCarrier().carry(cut_of(*telephone(1)))
    assert (carried.sounds, carried.has_sound) == ((), True)

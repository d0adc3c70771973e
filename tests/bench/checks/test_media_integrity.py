"""What proves a stream: nothing that is missing, foreign, out of order or out of time goes unnoticed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.bench.checks.media_integrity import (
    PTS_SPAN,
    Findings,
    Original,
    StreamChecker,
    Timed,
    nal_units,
    sized_units,
    ticks_between,
    without_adts,
)
from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.media_loop import LOOP_FRAMES, LOOP_MS, LoopUnit
from motorpool.codecs.media.units import AudioCoding

Sent = tuple[list[tuple[int, list[bytes]]], list[Timed]]


def send(loop: list[LoopUnit], turns: int = 1, *, first: int = 0, start: int = 900_000) -> Sent:
    """The units of so many turns of the loop behind turn `first`, as a reader finds them."""
    pictures, sounds, number = [], [], first * LOOP_FRAMES
    for turn in range(first, first + turns):
        for loop_unit in loop:
            unit = loop_unit.access_unit(1, turn * LOOP_MS, number)
            ticks = (start + unit.timestamp * 90) % PTS_SPAN
            if loop_unit.is_video:
                pictures.append((ticks, nal_units(unit.payload)))
                number += 1
            else:
                sounds.append((ticks, without_adts(unit.payload)))
    return pictures, sounds


def look(loop: list[LoopUnit], *files: Sent) -> Findings:
    checker = StreamChecker(Original(loop))
    for pictures, sounds in files:
        checker.check_file(pictures, sounds)
    return checker.findings


def faults(found: Findings) -> tuple[int, int]:
    return found.gaps, found.altered


def test_what_was_sent_has_no_findings_across_the_end_of_the_loop(loop: list[LoopUnit]) -> None:
    found = look(loop, send(loop, 2), send(loop, first=2))
    assert (found.frames, found.sounds) == (600, 375)
    assert faults(found) == (0, 0)
    assert found.sound_offset_ms == 0


def test_times_may_wrap_within_a_file(loop: list[LoopUnit]) -> None:
    found = look(loop, send(loop, start=PTS_SPAN - 4 * 90_000))
    assert faults(found) == (0, 0)
    assert found.sound_offset_ms == 0


def test_a_reader_may_join_anywhere(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop, first=3)
    assert faults(look(loop, (pictures[25:], sounds[20:]))) == (0, 0)


@pytest.mark.parametrize("place", [1, 60, 123])
def test_one_sound_too_few_is_a_hole(loop: list[LoopUnit], place: int) -> None:
    pictures, sounds = send(loop)
    assert faults(look(loop, (pictures, sounds[:place] + sounds[place + 1 :]))) == (1, 0)


def test_a_whole_turn_of_sound_too_few_is_a_hole(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop, 3)
    assert faults(look(loop, (pictures, sounds[:125] + sounds[250:]))) == (1, 0)


def test_a_whole_turn_too_few_of_both_is_two_holes(loop: list[LoopUnit]) -> None:
    assert faults(look(loop, send(loop), send(loop, first=2))) == (2, 0)


def test_after_an_interruption_nothing_has_to_follow(loop: list[LoopUnit]) -> None:
    checker = StreamChecker(Original(loop))
    checker.check_file(*send(loop))
    checker.reset()
    checker.check_file(*send(loop, first=2))
    assert faults(checker.findings) == (0, 0)


def test_a_picture_that_comes_twice_is_a_hole(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    assert faults(look(loop, ([*pictures[:7], *pictures[6:]], sounds))) == (1, 0)


def test_two_sounds_in_the_wrong_order_are_noticed(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    sounds[40], sounds[41] = (sounds[40][0], sounds[41][1]), (sounds[41][0], sounds[40][1])
    assert look(loop, (pictures, sounds)).gaps == 3


@given(picture=st.integers(0, LOOP_FRAMES - 1), share=st.floats(0, 1, exclude_max=True))
def test_no_bit_of_a_slice_can_be_changed(loop: list[LoopUnit], picture: int, share: float) -> None:
    pictures, sounds = send(loop)
    ticks, units = pictures[picture]
    slices = units[-1]
    at = int(share * len(slices))
    changed = slices[:at] + bytes((slices[at] ^ 1,)) + slices[at + 1 :]
    pictures[picture] = ticks, [*units[:-1], changed]
    assert look(loop, (pictures, sounds)).altered == 1


def test_a_slice_too_few_or_too_many_is_foreign(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    pictures[3] = pictures[3][0], pictures[3][1][:-1]
    pictures[4] = pictures[4][0], [*pictures[4][1], pictures[4][1][-1]]
    assert faults(look(loop, (pictures, sounds))) == (0, 2)


def test_a_picture_without_a_number_and_a_sound_that_was_never_sent_are_foreign(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    pictures[9] = pictures[9][0], [pictures[9][1][-1]]
    sounds[9] = sounds[9][0], b"\x01\x18\x20"
    found = look(loop, (pictures, sounds))
    assert found.altered == 2
    assert found.gaps == 2


def test_parameter_sets_and_delimiters_may_be_repeated_or_missing(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    ticks, units = pictures[0]
    sets = [unit for unit in units if unit[0] & 31 in (7, 8)]
    assert len(sets) == 2
    pictures[0] = ticks, [unit for unit in units if unit not in sets]
    pictures[1] = pictures[1][0], [b"\x09\xf0", *sets, *pictures[1][1]]
    assert faults(look(loop, (pictures, sounds))) == (0, 0)


def test_sound_that_comes_late_is_measured(loop: list[LoopUnit]) -> None:
    pictures, sounds = send(loop)
    later = [(ticks + 120 * 90, frame) for ticks, frame in sounds]
    found = look(loop, (pictures, later))
    assert faults(found) == (0, 0)
    assert found.sound_offset_ms == pytest.approx(120)


def test_transcoded_sound_must_follow_without_a_gap(loop: list[LoopUnit]) -> None:
    telephone = [unit for unit in loop if unit.is_video]
    pictures, _ = send(telephone)
    frames = [(900_000 + place * 11_520, b"frame") for place in range(60)]
    assert faults(look(telephone, (pictures, frames))) == (0, 0)
    assert faults(look(telephone, (pictures, frames[:30] + frames[31:]))) == (1, 0)
    assert faults(look(telephone, (pictures[:99], frames[:30]), (pictures[99:], frames[29:]))) == (1, 0)


def test_findings_add_up_and_keep_the_worst() -> None:
    total = Findings(
        frames=1, sounds=2, gaps=3, altered=4, sound_offset_ms=5, decoded=6, broken=7, drift_ms=8
    )
    total.add(
        Findings(frames=1, sounds=1, gaps=1, altered=1, sound_offset_ms=1, decoded=1, broken=1, drift_ms=9)
    )
    assert msgspec.structs.astuple(total) == (2, 3, 4, 5, 5, 7, 8, 9)


def test_a_loop_of_telephone_sound_has_no_sound_to_compare() -> None:
    assert Original(media_loop.make_loop()).has_its_own_sound
    assert not Original(media_loop.make_loop(AudioCoding.G711A)).has_its_own_sound


@given(st.integers(0, PTS_SPAN - 1), st.integers(-(1 << 31), 1 << 31))
def test_times_are_compared_over_the_wrap(earlier: int, difference: int) -> None:
    assert ticks_between((earlier + difference) % PTS_SPAN, earlier) == difference


@given(st.lists(st.binary(min_size=1, max_size=40)))
def test_units_of_an_mp4_sample_are_found_by_their_lengths(units: list[bytes]) -> None:
    sample = b"".join(len(unit).to_bytes(4) + unit for unit in units)
    assert sized_units(sample) == units


def test_units_of_a_byte_stream_lose_their_start_codes_and_zeros() -> None:
    assert nal_units(b"\0\0\0\1\x67ab\0\0\0\1\x68c\0\0\1\x65d\0\0") == [b"\x67ab", b"\x68c", b"\x65d"]


@pytest.mark.parametrize(
    ("frame", "bare"),
    [
        (bytes.fromhex("fff160400160fc") + b"frame", b"frame"),
        (bytes.fromhex("fff060400180fc1234") + b"frame", b"frame"),
        (b"\x01\x18frame of six", b"\x01\x18frame of six"),
        (b"\xff\xf1", b"\xff\xf1"),
    ],
)
def test_the_head_of_a_frame_of_aac_is_taken_off(frame: bytes, bare: bytes) -> None:
    assert without_adts(frame) == bare

"""What proves a stream: nothing that is missing, foreign, out of order or out of time goes unnoticed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.bench.checks.media_integrity import (
    PTS_SPAN,
    Findings,
    Original,
    Timed,
    Witness,
    apart,
    nal_units,
    sized_units,
    without_adts,
)
from motorpool.bench.vehicles import footage
from motorpool.bench.vehicles.footage import LOOP_FRAMES, LOOP_MS, Shot
from motorpool.codecs.media.units import Coding

Sent = tuple[list[tuple[int, list[bytes]]], list[Timed]]


def send(loop: list[Shot], turns: int = 1, *, first: int = 0, start: int = 900_000) -> Sent:
    """The units of so many turns of the loop behind turn `first`, as a reader finds them."""
    pictures, sounds, number = [], [], first * LOOP_FRAMES
    for turn in range(first, first + turns):
        for shot in loop:
            unit = shot.unit(1, turn * LOOP_MS, number)
            ticks = (start + unit.timestamp * 90) % PTS_SPAN
            if shot.is_picture:
                pictures.append((ticks, nal_units(unit.payload)))
                number += 1
            else:
                sounds.append((ticks, without_adts(unit.payload)))
    return pictures, sounds


def look(loop: list[Shot], *files: Sent) -> Findings:
    witness = Witness(Original(loop))
    for pictures, sounds in files:
        witness.take(pictures, sounds)
    return witness.findings


def faults(found: Findings) -> tuple[int, int]:
    return found.holes, found.strangers


def test_what_was_sent_proves_itself_over_the_seam_of_the_loop(loop: list[Shot]) -> None:
    found = look(loop, send(loop, 2), send(loop, first=2))
    assert (found.frames, found.sounds) == (600, 375)
    assert faults(found) == (0, 0)
    assert found.beside_ms == 0


def test_times_may_wrap_within_a_file(loop: list[Shot]) -> None:
    found = look(loop, send(loop, start=PTS_SPAN - 4 * 90_000))
    assert faults(found) == (0, 0)
    assert found.beside_ms == 0


def test_a_reader_may_join_anywhere(loop: list[Shot]) -> None:
    pictures, sounds = send(loop, first=3)
    assert faults(look(loop, (pictures[25:], sounds[20:]))) == (0, 0)


@pytest.mark.parametrize("place", [1, 60, 123])
def test_one_sound_too_few_is_a_hole(loop: list[Shot], place: int) -> None:
    pictures, sounds = send(loop)
    assert faults(look(loop, (pictures, sounds[:place] + sounds[place + 1 :]))) == (1, 0)


def test_a_whole_turn_of_sound_too_few_is_a_hole(loop: list[Shot]) -> None:
    pictures, sounds = send(loop, 3)
    assert faults(look(loop, (pictures, sounds[:125] + sounds[250:]))) == (1, 0)


def test_a_whole_turn_too_few_of_both_is_two_holes(loop: list[Shot]) -> None:
    assert faults(look(loop, send(loop), send(loop, first=2))) == (2, 0)


def test_after_an_interruption_nothing_has_to_follow(loop: list[Shot]) -> None:
    witness = Witness(Original(loop))
    witness.take(*send(loop))
    witness.interrupt()
    witness.take(*send(loop, first=2))
    assert faults(witness.findings) == (0, 0)


def test_a_picture_that_comes_twice_is_a_hole(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    assert faults(look(loop, ([*pictures[:7], *pictures[6:]], sounds))) == (1, 0)


def test_two_sounds_in_the_wrong_order_are_noticed(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    sounds[40], sounds[41] = (sounds[40][0], sounds[41][1]), (sounds[41][0], sounds[40][1])
    assert look(loop, (pictures, sounds)).holes == 3


@given(picture=st.integers(0, LOOP_FRAMES - 1), share=st.floats(0, 1, exclude_max=True))
def test_no_bit_of_a_slice_can_be_changed(loop: list[Shot], picture: int, share: float) -> None:
    pictures, sounds = send(loop)
    ticks, units = pictures[picture]
    slices = units[-1]
    at = int(share * len(slices))
    changed = slices[:at] + bytes((slices[at] ^ 1,)) + slices[at + 1 :]
    pictures[picture] = ticks, [*units[:-1], changed]
    assert look(loop, (pictures, sounds)).strangers == 1


def test_a_slice_too_few_or_too_many_is_foreign(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    pictures[3] = pictures[3][0], pictures[3][1][:-1]
    pictures[4] = pictures[4][0], [*pictures[4][1], pictures[4][1][-1]]
    assert faults(look(loop, (pictures, sounds))) == (0, 2)


def test_a_picture_without_a_number_and_a_sound_that_was_never_sent_are_foreign(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    pictures[9] = pictures[9][0], [pictures[9][1][-1]]
    sounds[9] = sounds[9][0], b"\x01\x18\x20"
    found = look(loop, (pictures, sounds))
    assert found.strangers == 2
    assert found.holes == 2


def test_parameter_sets_and_delimiters_may_be_repeated_or_missing(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    ticks, units = pictures[0]
    sets = [unit for unit in units if unit[0] & 31 in (7, 8)]
    assert len(sets) == 2
    pictures[0] = ticks, [unit for unit in units if unit not in sets]
    pictures[1] = pictures[1][0], [b"\x09\xf0", *sets, *pictures[1][1]]
    assert faults(look(loop, (pictures, sounds))) == (0, 0)


def test_sound_that_comes_late_is_measured(loop: list[Shot]) -> None:
    pictures, sounds = send(loop)
    later = [(ticks + 120 * 90, frame) for ticks, frame in sounds]
    found = look(loop, (pictures, later))
    assert faults(found) == (0, 0)
    assert found.beside_ms == pytest.approx(120)


def test_transcoded_sound_must_follow_without_a_gap(loop: list[Shot]) -> None:
    telephone = [shot for shot in loop if shot.is_picture]
    pictures, _ = send(telephone)
    frames = [(900_000 + place * 11_520, b"frame") for place in range(60)]
    assert faults(look(telephone, (pictures, frames))) == (0, 0)
    assert faults(look(telephone, (pictures, frames[:30] + frames[31:]))) == (1, 0)
    assert faults(look(telephone, (pictures[:99], frames[:30]), (pictures[99:], frames[29:]))) == (1, 0)


def test_findings_add_up_and_keep_the_worst() -> None:
    total = Findings(frames=1, sounds=2, holes=3, strangers=4, beside_ms=5, decoded=6, broken=7, drift_ms=8)
    total.add(
        Findings(frames=1, sounds=1, holes=1, strangers=1, beside_ms=1, decoded=1, broken=1, drift_ms=9)
    )
    assert msgspec.structs.astuple(total) == (2, 3, 4, 5, 5, 7, 8, 9)


def test_a_loop_of_telephone_sound_has_no_sound_to_compare() -> None:
    assert Original(footage.film_loop()).has_its_own_sound
    assert not Original(footage.film_loop(Coding.G711A)).has_its_own_sound


@given(st.integers(0, PTS_SPAN - 1), st.integers(-(1 << 31), 1 << 31))
def test_times_are_compared_over_the_wrap(earlier: int, difference: int) -> None:
    assert apart((earlier + difference) % PTS_SPAN, earlier) == difference


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

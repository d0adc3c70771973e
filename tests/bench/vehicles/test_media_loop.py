"""The loop that `live` sends over and over."""

import io
from itertools import pairwise
from pathlib import Path

import av
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.media_loop import (
    LOOP_FRAMES,
    LOOP_MS,
    LOOP_SECONDS,
    LoopUnit,
    number_message,
    read_number_message,
)
from motorpool.codecs.media.h264 import H264
from motorpool.codecs.media.units import AudioCoding


@settings(max_examples=100)
@given(st.integers(0, 2**35 - 1), st.binary(max_size=50))
def test_a_number_message_is_found_and_holds_no_start_code(number: int, before: bytes) -> None:
    message = number_message(number)
    assert read_number_message(before + message + b"\0\0\1\x65") == number
    assert b"\0\0" not in message[4:]


def test_a_picture_without_number_yields_none() -> None:
    assert read_number_message(b"\0\0\0\1\x65" + bytes(100)) is None


def test_the_loop_has_no_seam(loop: list[LoopUnit]) -> None:
    telephone = media_loop.make_loop(AudioCoding.G711A)
    for shots, coding, count, step in (
        (loop, H264, LOOP_FRAMES, 40),
        (loop, AudioCoding.AAC, 125, 64),
        (telephone, H264, LOOP_FRAMES, 40),
        (telephone, AudioCoding.G711A, 200, 40),
    ):
        times = [unit.milliseconds for unit in shots if unit.coding is coding]
        assert len(times) == count
        assert {later - earlier for earlier, later in pairwise([*times, times[0] + LOOP_MS])} == {step}


def test_each_frame_of_aac_is_unlike_the_others_so_that_it_tells_its_place(loop: list[LoopUnit]) -> None:
    frames = [unit.slices for unit in loop if unit.coding is AudioCoding.AAC]
    assert len(set(frames)) == 125


@pytest.mark.parametrize(("seconds", "bytes_there"), [(8, 64_000), (20, 160_000), (3, 24_000)])
def test_telephone_sound_is_as_long_as_asked_for(tmp_path: Path, seconds: int, bytes_there: int) -> None:
    shots = [
        LoopUnit(40 * place, AudioCoding.G711A, False, b"", bytes((place,)) * 320) for place in range(200)
    ]
    media_loop.write_telephone_sound(shots, seconds, tmp_path / "sound")
    content = (tmp_path / "sound").read_bytes()
    assert len(content) == bytes_there
    assert content[:640] == bytes(320) + b"\x01" * 320


def test_a_key_frame_comes_every_second_at_one_megabit(loop: list[LoopUnit]) -> None:
    assert [unit.milliseconds for unit in loop if unit.keyframe] == list(range(0, LOOP_SECONDS * 1000, 1000))
    size = sum(len(unit.head) + len(unit.slices) for unit in loop)
    assert size * 8 / LOOP_SECONDS == pytest.approx(1_000_000, rel=0.1)


def test_numbered_pictures_decode_to_the_places_that_were_drawn(loop: list[LoopUnit]) -> None:
    pictures = [unit for unit in loop if unit.is_video][:30]
    stream = b"".join(unit.access_unit(1, 0, 400 + place).payload for place, unit in enumerate(pictures))
    with av.open(io.BytesIO(stream), format="h264") as container:
        assert [read_number(frame.to_image()) for frame in container.decode(video=0)] == list(range(30))


def test_a_loop_is_read_as_it_was_written(loop: list[LoopUnit], tmp_path: Path) -> None:
    media_loop.write_loop(loop, tmp_path / "loop")
    assert media_loop.read_loop(tmp_path / "loop") == loop


def test_the_reference_file_holds_the_same_units(loop: list[LoopUnit], tmp_path: Path) -> None:
    media_loop.write_transport_stream(loop, 10, tmp_path / "in.ts")
    with av.open(str(tmp_path / "in.ts")) as container:
        # A packet must not be asked for its stream once the container is closed: that ends the process.
        packets = [(packet.stream.type, bytes(packet)) for packet in container.demux() if packet.size]
    numbers = [read_number_message(content) for kind, content in packets if kind == "video"]
    assert numbers == list(range(250))
    assert sum(kind == "audio" for kind, _ in packets) == pytest.approx(156, abs=1)

"""Frame numbers in pictures."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from motorpool.bench.vehicles.frame_numbers import draw_number, read_number


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**24 - 1), st.sampled_from([(640, 360), (352, 288), (1280, 720)]))
def test_a_number_drawn_is_read(number: int, size: tuple[int, int]) -> None:
    picture = Image.new("YCbCr", size, (128, 128, 128))
    draw_number(picture, number)
    assert read_number(picture) == number


def test_a_number_is_read_from_a_colour_picture_scaled_to_half_its_size() -> None:
    picture = Image.new("YCbCr", (640, 360), (90, 128, 128))
    draw_number(picture, 123_456)
    assert read_number(picture.convert("RGB").resize((320, 180))) == 123_456


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_a_picture_without_number_has_none(grey: int) -> None:
    assert read_number(Image.new("L", (640, 360), grey)) is None


def test_a_damaged_number_is_not_taken_for_another() -> None:
    picture = Image.new("L", (640, 360), 128)
    draw_number(picture, 77)
    width = (640 - 16) / 30
    square = (round(8 + 20 * width), 300, round(8 + 21 * width), 360)
    picture.paste(255, square)
    assert read_number(picture) is None

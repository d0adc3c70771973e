"""The age of pictures, from what a browser saw of their stamps."""

from PIL import Image

from motorpool.bench.load.browser import ages
from motorpool.bench.vehicles.frame_numbers import NUMBER_BITS, centres, draw_number

NOW_MS = 1_790_000_000_123


def levels(number: int) -> list[float]:
    picture = Image.new("L", (640, 360), 90)
    draw_number(picture, number)
    return [float(picture.getpixel(centre)) for centre in centres(640, 360)]


def test_a_picture_is_as_old_as_its_stamp_says() -> None:
    assert ages([(NOW_MS, levels(NOW_MS - 2345)), (NOW_MS, levels(NOW_MS))]) == [2.345, 0.0]


def test_a_stamp_from_before_the_wrap_of_its_bits_is_no_older() -> None:
    wrap = NOW_MS // (1 << NUMBER_BITS) * (1 << NUMBER_BITS)
    assert ages([(wrap + 400, levels(wrap - 600))]) == [1.0]


def test_a_picture_without_squares_has_no_age() -> None:
    assert ages([(NOW_MS, [90.0] * 30), (NOW_MS, [255.0] * 30)]) == []

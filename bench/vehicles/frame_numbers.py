"""Frame numbers drawn as squares, by which a decoded picture is identified.

A row of squares along the lower edge: black and white for the number's bits, the highest first, behind two
that are always white and black and before four check bits. They survive any sane compression and scaling.
"""

from collections.abc import Sequence

from PIL import Image, ImageDraw

NUMBER_BITS = 24
CHECK_BITS = 4
SQUARES = 2 + NUMBER_BITS + CHECK_BITS
MARGIN = 8
"""Pixels to the left of and below the row, in a picture 640 wide."""


def _side(width: int) -> float:
    return (width - 2 * MARGIN) / SQUARES


def _check(number: int) -> int:
    check = 0b1010
    while number:
        check ^= number & 0b1111
        number >>= 4
    return check


def draw_number(picture: Image.Image, number: int) -> None:
    """Draw the row into a YCbCr or grey picture; the number wraps past 24 bits."""
    number %= 1 << NUMBER_BITS
    bits = (0b10 << NUMBER_BITS | number) << CHECK_BITS | _check(number)
    side = _side(picture.width)
    bottom = picture.height - MARGIN
    draw = ImageDraw.Draw(picture)
    black, white = ((16, 128, 128), (235, 128, 128)) if picture.mode == "YCbCr" else (16, 235)
    draw.rectangle((MARGIN, bottom - side, picture.width - MARGIN, bottom), fill=black)
    for square in range(SQUARES):
        if bits >> (SQUARES - 1 - square) & 1:
            left = MARGIN + square * side
            draw.rectangle((left, bottom - side, left + side - 1, bottom), fill=white)


def centres(width: int, height: int) -> list[tuple[int, int]]:
    """Return the centres of the squares in a picture of that size, from left to right."""
    side = _side(width)
    row = round(height - MARGIN - side / 2)
    return [(round(MARGIN + (square + 0.5) * side), row) for square in range(SQUARES)]


def read_number(picture: Image.Image) -> int | None:
    """Read the number in a decoded picture; None if it cannot be read."""
    grey = picture.getchannel("Y") if picture.mode == "YCbCr" else picture.convert("L")
    levels = [grey.getpixel(centre) for centre in centres(grey.width, grey.height)]
    return read_levels([level if isinstance(level, int | float) else 0 for level in levels])


def read_levels(levels: Sequence[float]) -> int | None:
    """Read the number from the brightness of the squares, 0 to 255; None if it is invalid."""
    bits = 0
    for level in levels:
        bits = bits << 1 | (level > 127)
    number = bits >> CHECK_BITS & (1 << NUMBER_BITS) - 1
    if bits >> CHECK_BITS + NUMBER_BITS != 0b10 or bits & 0b1111 != _check(number):
        return None
    return number

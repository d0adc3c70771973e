"""Draws what a vehicle's camera sees: a passing street, and a line of text.

Pictures are drawn in the colours of video (BT.601, studio range), which saves converting every one of them.
"""

import io
import math
import random
from datetime import UTC, datetime

from PIL import Image, ImageDraw, ImageFont

from motorpool.bench.vehicles.frame_numbers import draw_number
from motorpool.bench.vehicles.route import VehicleState

Colour = tuple[int, int, int]


def _colour(red: int, green: int, blue: int) -> Colour:
    """Y, Cb and Cr in the range of H.264: 16 to 235 and 16 to 240."""
    return (
        round(16 + 0.257 * red + 0.504 * green + 0.098 * blue),
        round(128 - 0.148 * red - 0.291 * green + 0.439 * blue),
        round(128 + 0.439 * red - 0.368 * green - 0.071 * blue),
    )


_VIEWS = ("front", "rear", "left", "right", "cabin")
_SKIES = (
    _colour(134, 178, 214),
    _colour(156, 182, 196),
    _colour(176, 190, 206),
    _colour(150, 170, 190),
    _colour(120, 150, 180),
)
_ROAD = _colour(78, 80, 84)
_KERB = _colour(150, 148, 142)
_PAVEMENT = _colour(122, 120, 114)
_MARKING = _colour(228, 226, 214)
_GLASS = _colour(150, 170, 180)
_TYRE = _colour(30, 30, 32)
_POST = _colour(60, 62, 60)
_LIT, _DARK = _colour(222, 206, 150), _colour(70, 76, 88)
_BANNER, _TITLE = _colour(18, 22, 28), _colour(255, 255, 255)
_TIME, _DETAIL = _colour(255, 214, 102), _colour(200, 220, 235)


class Scenery:
    """Draws the pictures of one camera; not thread-safe."""

    def __init__(
        self, vehicle: str, channel: int, *, width: int = 640, height: int = 360, squares: bool = True
    ) -> None:
        self._squares = squares
        self._vehicle = vehicle
        self._channel = channel
        self._view = _VIEWS[(channel - 1) % len(_VIEWS)]
        self._size = (width, height)
        self._horizon = round(height * 0.42)
        self._lettering = _Lettering(round(height / 18))
        self._heading = 0.0
        self._seconds: datetime | None = None
        self._ground = self._draw_ground()
        self._skyline = self._draw_skyline(random.Random(f"{vehicle}/{channel}"))

    def draw(
        self, moment: VehicleState, instant: datetime, number: int, code: int | None = None
    ) -> Image.Image:
        """Draw one picture (YCbCr) with the instant and the frame number as text.

        `code` is what the squares hold, if not the frame number; without squares it is ignored.
        """
        if self._seconds is not None:
            elapsed = min(1.0, max(0.0, (instant - self._seconds).total_seconds()))
            self._heading += moment.turning * elapsed
        self._seconds = instant
        picture = self._ground.copy()
        self._paste_skyline(picture, moment)
        draw = ImageDraw.Draw(picture)
        if self._view in ("left", "right"):
            self._draw_kerbside(draw, moment)
        else:
            self._draw_markings(draw, moment)
        self._draw_text(picture, moment, instant, number)
        if self._squares:
            draw_number(picture, number if code is None else code)
        return picture

    def take_photo(self, moment: VehicleState, instant: datetime) -> bytes:
        """Draw one picture as JPEG."""
        picture = self.draw(moment, instant, 0)
        # JPEG uses the full range of each byte where video keeps to the studio range.
        bright = [min(255, max(0, round((level - 16) * 255 / 219))) for level in range(256)]
        colour = [min(255, max(0, round((level - 128) * 255 / 224 + 128))) for level in range(256)]
        content = io.BytesIO()
        picture.point(bright + colour + colour).save(content, "JPEG", quality=75)
        return content.getvalue()

    def _draw_ground(self) -> Image.Image:
        width, height = self._size
        picture = Image.new("YCbCr", self._size, _SKIES[(self._channel - 1) % len(_SKIES)])
        draw = ImageDraw.Draw(picture)
        draw.rectangle((0, self._horizon, width, height), fill=_PAVEMENT)
        if self._view in ("left", "right"):
            kerb = round(height * 0.66)
            draw.rectangle((0, kerb, width, height), fill=_ROAD)
            draw.rectangle((0, kerb - 5, width, kerb), fill=_KERB)
            return picture
        middle = width / 2
        draw.polygon(
            [
                (middle - 14, self._horizon),
                (middle + 14, self._horizon),
                (width * 1.15, height),
                (-width * 0.15, height),
            ],
            fill=_KERB,
        )
        draw.polygon(
            [
                (middle - 12, self._horizon),
                (middle + 12, self._horizon),
                (width * 1.05, height),
                (-width * 0.05, height),
            ],
            fill=_ROAD,
        )
        return picture

    def _draw_skyline(self, chance: random.Random) -> Image.Image:
        """Draw a strip of houses twice as wide as the picture that repeats seamlessly."""
        width, high = 2 * self._size[0], round(self._horizon * 0.8)
        strip = Image.new("YCbCr", (width, high), _SKIES[(self._channel - 1) % len(_SKIES)])
        draw = ImageDraw.Draw(strip)
        left = 0
        while left < width - 20:
            right = min(width - 1, left + chance.randint(40, 90))
            top = chance.randint(0, round(high * 0.6))
            shade = chance.randint(90, 150)
            draw.rectangle((left, top, right, high), fill=_colour(shade, shade - 8, shade - 18))
            for x in range(left + 8, right - 8, 14):
                for y in range(top + 8, high - 8, 16):
                    lit = chance.random() < 0.3
                    draw.rectangle((x, y, x + 6, y + 8), fill=_LIT if lit else _DARK)
            left = right + 1
        return strip

    def _paste_skyline(self, picture: Image.Image, moment: VehicleState) -> None:
        """Shift the houses against the turn of the vehicle, and slightly with its distance."""
        width, high = self._skyline.size
        drift = moment.odometer * 0.4 if self._view != "rear" else -moment.odometer * 0.4
        offset = round(self._heading * 8 + drift) % width
        top = self._horizon - high
        picture.paste(self._skyline, (-offset, top))
        if width - offset < self._size[0]:
            picture.paste(self._skyline, (width - offset, top))

    def _draw_markings(self, draw: ImageDraw.ImageDraw, moment: VehicleState) -> None:
        """Draw dashes 4 m long every 12 m, seen by a pinhole 2 m above the street, and a post every 30 m."""
        sign = -1 if self._view == "rear" else 1
        along = sign * moment.odometer
        for metres in range(0, 96, 12):
            near = metres - along % 12
            self._draw_dash(draw, max(2.5, near), near + 4)
        for metres in range(0, 150, 30):
            distance = metres - along % 30
            if distance > 4:
                scale = self._size[1] * 0.9 / distance
                x, y = self._size[0] / 2 + 6.2 * scale, self._horizon + 2 * scale
                draw.line((x, y, x, y - 4.5 * scale), fill=_POST, width=max(1, round(scale * 0.18)))

    def _draw_dash(self, draw: ImageDraw.ImageDraw, near: float, far: float) -> None:
        if far <= 2.5:
            return
        width, height = self._size
        scale_near, scale_far = height * 0.9 / near, height * 0.9 / far
        y_near, y_far = self._horizon + 2 * scale_near, self._horizon + 2 * scale_far
        half_near, half_far = 0.12 * scale_near, 0.12 * scale_far
        middle = width / 2
        draw.polygon(
            [
                (middle - half_far, y_far),
                (middle + half_far, y_far),
                (middle + half_near, y_near),
                (middle - half_near, y_near),
            ],
            fill=_MARKING,
        )

    def _draw_kerbside(self, draw: ImageDraw.ImageDraw, moment: VehicleState) -> None:
        """Draw parked cars and lane marks that pass from one side of the picture to the other."""
        width, height = self._size
        sign = 1 if self._view == "left" else -1
        for index in range(-1, 6):
            spot = math.floor(moment.odometer / 8) + index
            x = width / 2 + sign * ((spot * 8 - moment.odometer) * 24 - 48)
            shade = (spot * 37) % 90
            top = round(height * 0.5)
            draw.rectangle((x + 22, top, x + 84, top + 26), fill=_GLASS)
            draw.rectangle(
                (x, top + 24, x + 110, top + 56), fill=_colour(90 + shade, 60 + shade // 2, 110 - shade)
            )
            draw.ellipse((x + 14, top + 44, x + 38, top + 68), fill=_TYRE)
            draw.ellipse((x + 72, top + 44, x + 96, top + 68), fill=_TYRE)
            dash = width / 2 + sign * ((spot * 8 - moment.odometer) * 60)
            draw.rectangle((dash, height * 0.82, dash + 180, height * 0.84), fill=_MARKING)

    def _draw_text(self, picture: Image.Image, moment: VehicleState, instant: datetime, number: int) -> None:
        width, height = self._size
        line = round(height / 15)
        picture.paste(_BANNER, (0, 0, width, 2 * line + 4))
        utc = instant.astimezone(UTC)
        time = f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // 100_000} UTC"
        place = f"{moment.latitude:.5f} {moment.longitude:.5f}"
        pace = f"{moment.speed * 3.6:.0f} km/h  {moment.course:03.0f}°"
        write = self._lettering.write
        write(picture, 8, 2, f"{self._vehicle}  CH{self._channel} {self._view}", _TITLE)
        write(picture, width - 8, 2, time, _TIME, to_the_left=True)
        write(picture, 8, 2 + line, f"{pace}   {place}", _DETAIL)
        write(picture, width - 8, 2 + line, f"#{number}", _DETAIL, to_the_left=True)


class _Lettering:
    """Writes with letters rendered once: rendering a line for every picture takes 0.25 ms."""

    def __init__(self, pixels: int) -> None:
        self._font = ImageFont.load_default(size=pixels)
        self._letters: dict[str, tuple[Image.Image, int]] = {}

    def write(
        self, picture: Image.Image, x: int, y: int, text: str, colour: Colour, *, to_the_left: bool = False
    ) -> None:
        letters = [self._letters.get(letter) or self._draw(letter) for letter in text]
        if to_the_left:
            x -= sum(advance for _, advance in letters)
        for mask, advance in letters:
            picture.paste(colour, (x, y), mask)
            x += advance

    def _draw(self, letter: str) -> tuple[Image.Image, int]:
        # Digits get one width, so that a running clock does not jitter.
        advance = round(self._font.getlength("0" if letter.isdigit() else letter))
        _, _, right, bottom = self._font.getbbox(letter)
        mask = Image.new("L", (max(1, round(right)), max(1, round(bottom))))
        ImageDraw.Draw(mask).text((0, 0), letter, font=self._font, fill=255)
        self._letters[letter] = mask, advance
        return mask, advance

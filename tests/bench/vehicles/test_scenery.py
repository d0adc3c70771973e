"""Pictures of a street that passes by."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from PIL import Image, ImageChops

from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.route import Drive
from motorpool.bench.vehicles.scenery import Scenery

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
DRIVE = Drive(ROUND_TRIPS[0], seed=1)
MOVING = next(second for second in range(1000) if DRIVE.at(second).speed > 8)


def street(picture: Image.Image) -> Image.Image:
    """Without the words above and the number below."""
    return picture.getchannel("Y").crop((0, 60, picture.width, 320))


@pytest.mark.parametrize("channel", [1, 2, 3, 4, 5, 6])
def test_every_camera_sees_the_street_move_and_counts_its_pictures(channel: int) -> None:
    scenery = Scenery("Van 1", channel)
    earlier = scenery.draw(DRIVE.at(MOVING), NOON, 7)
    later = scenery.draw(DRIVE.at(MOVING + 0.2), NOON + timedelta(seconds=0.2), 8)
    assert (read_number(earlier), read_number(later)) == (7, 8)
    assert ImageChops.difference(street(earlier), street(later)).getbbox() is not None


def test_vehicle_channel_and_time_stand_in_the_picture() -> None:
    """Each of them changes the banner, and nothing else does."""

    def banner(vehicle: str, channel: int, instant: datetime) -> bytes:
        picture = Scenery(vehicle, channel).draw(DRIVE.at(MOVING), instant, 0)
        return picture.getchannel("Y").crop((0, 0, 640, 50)).tobytes()

    usual = banner("Van 1", 1, NOON)
    assert usual == banner("Van 1", 1, NOON)
    others = [
        banner("Van 2", 1, NOON),
        banner("Van 1", 2, NOON),
        banner("Van 1", 1, NOON + timedelta(seconds=1)),
    ]
    assert len({usual, *others}) == 4


def test_other_sizes_are_drawn_too() -> None:
    picture = Scenery("Van 1", 1, width=352, height=288).draw(DRIVE.at(MOVING), NOON, 99)
    assert picture.size == (352, 288)
    assert read_number(picture) == 99


def test_a_photo_is_a_jpeg_of_the_same_street() -> None:
    photo = Image.open(io.BytesIO(Scenery("Van 1", 1).take_photo(DRIVE.at(MOVING), NOON)))
    assert (photo.format, photo.size) == ("JPEG", (640, 360))
    assert read_number(photo) == 0

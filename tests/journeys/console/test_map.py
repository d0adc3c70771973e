"""Journey 2: the map shows vehicles where they are (docs/console.md#the-map-of-vehicles)."""

import io
import math
import re

import httpx
import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect

ZOOM = 16
CENTER = (52.5, 13.4)
WORLD_PX = 512 * 2**ZOOM
METERS_PER_PX = 40_075_016.686 * math.cos(math.radians(CENTER[0])) / WORLD_PX
NEAR_METERS = 20
MOVING = (11, 107, 99)
"""The color of moving vehicles, and of the ring around the chosen one, in the light theme."""


@pytest.fixture(scope="module")
def report(server):
    """`report(latitude, longitude)`: what the vehicle of the journey, `Courier`, sends; it drives."""
    with server.client() as client:
        # It is far away within a second.
        attributes = {"position.implausibleSpeed": 0}
        body = {"name": "Courier", "uniqueId": "courier1", "attributes": attributes}
        made = client.post("/devices", json=body)
        assert made.status_code == 200, made.text

    def send(latitude, longitude):
        values = {"id": "courier1", "lat": latitude, "lon": longitude, "speed": 20, "bearing": 40}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200

    return send


def offset(latitude, longitude):
    """Pixels to the right and down from the center of the map, in Web Mercator."""

    def world(lat, lon):
        north = math.asinh(math.tan(math.radians(lat)))
        return WORLD_PX * (lon + 180) / 360, WORLD_PX * (1 - north / math.pi) / 2

    (x, y), (left, top) = world(latitude, longitude), world(*CENTER)
    return x - left, y - top


class MapView:
    """What is drawn between the buttons of the map and the panel."""

    def __init__(self, page):
        self.page = page

    @property
    def center(self):
        box = self.page.get_by_role("region", name="Map of the vehicles").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def at(self, latitude, longitude):
        """Pixels of the window at which a place is while the center is CENTER."""
        return tuple(sum(pair) for pair in zip(self.center, offset(latitude, longitude), strict=True))

    def mark(self):
        """The middle of what has the color of a moving vehicle; None if nothing has."""
        box = self.page.get_by_role("region", name="Map of the vehicles").bounding_box()
        # Not its outline while it has the focus.
        left, top = box["x"] + 80, box["y"] + 8
        clip = {"x": left, "y": top, "width": box["width"] - 80 - 380, "height": box["height"] - 16}
        picture = Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB")
        away = ImageChops.difference(picture, Image.new("RGB", picture.size, MOVING))
        red, green, blue = away.split()
        largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
        mask = largest.point(lambda difference: 255 if difference < 12 else 0)
        found = [
            (index % picture.width, index // picture.width)
            for index, marked in enumerate(mask.tobytes())
            if marked
        ]
        if len(found) < 20:
            return None
        xs, ys = zip(*found, strict=True)
        return left + sum(xs) / len(xs), top + sum(ys) / len(ys)

    def is_marked(self, place):
        """Whether the mark is within NEAR_METERS of pixels of the window."""
        found = self.mark()
        return found is not None and math.dist(found, place) * METERS_PER_PX < NEAR_METERS


def close_menu(page, name):
    """Wait for a menu, and leave it by the keyboard."""
    menu = page.get_by_role("menu", name=name)
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)


def test_the_map_shows_a_vehicle_where_it_is_and_opens_and_follows_it(server, visitor, report, eventually):
    first, second, third = (52.4996, 13.3985), (52.5007, 13.3970), (52.5030, 13.4050)
    report(*first)
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/fleet?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    view = MapView(page)
    row = page.get_by_role("link", name=re.compile("Courier"))
    expect(row).to_contain_text("Moving")
    eventually(lambda: view.is_marked(view.at(*first)))
    report(*second)
    eventually(lambda: view.is_marked(view.at(*second)))

    # The list and the map show the same vehicles.
    search = page.get_by_label("Search name or number")
    search.fill("another")
    eventually(lambda: view.mark() is None)
    search.fill("")
    eventually(lambda: view.is_marked(view.at(*second)))

    place = view.at(*second)
    page.mouse.click(*place, button="right")
    close_menu(page, "What to do with Courier")
    page.mouse.click(place[0] + 60, place[1] + 60, button="right")
    menu = page.get_by_role("menu", name="This place")
    menu.get_by_role("menuitem", name="What is here").click()
    page.get_by_role("button", name="Who was here?").click()
    who = page.get_by_role("region", name="Who was here?")
    stays = who.get_by_role("listitem")
    expect(stays).to_contain_text("Courier")
    expect(stays.get_by_role("link")).to_have_attribute("href", re.compile("/history"))
    guest.assert_accessible()
    page.keyboard.press("Escape")
    expect(who).to_have_count(0)
    page.mouse.click(*place)
    panel = page.get_by_role("complementary", name="Vehicle")
    expect(panel.get_by_role("heading", name="Courier")).to_be_visible()
    # What was clicked stays where it is.
    eventually(lambda: view.is_marked(place))

    page.keyboard.press("f")
    expect(page.get_by_role("button", name="Follow this vehicle")).to_have_attribute("aria-pressed", "true")
    report(*third)
    expect(panel).to_contain_text("52.50300, 13.40500")
    map_box = page.get_by_role("region", name="Map of the vehicles").bounding_box()
    middle = ((map_box["x"] + panel.bounding_box()["x"]) / 2, view.center[1])
    eventually(lambda: view.is_marked(middle))
    expect(page).to_have_url(re.compile("follow=1"))
    guest.assert_accessible()

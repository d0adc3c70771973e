"""Journey 2: the map shows vehicles where they are (docs/console.md#the-map-of-vehicles)."""

import io
import math
import re

import httpx
import pytest
from PIL import Image, ImageChops, ImageColor
from playwright.sync_api import expect
from tests.tile_server import GROUND, PHOTO, STREET, serve_tiles

ZOOM = 16
CENTER = (52.5, 13.4)
WORLD_PX = 512 * 2**ZOOM
METERS_PER_PX = 40_075_016.686 * math.cos(math.radians(CENTER[0])) / WORLD_PX
NEAR_METERS = 20
MOVING = (11, 107, 99)
"""The color of moving vehicles, and of the ring around the chosen one, in the light theme."""


@pytest.fixture(scope="module")
def tiles():
    """The only other server that browsers of these journeys ask."""
    with serve_tiles() as running:
        yield running


@pytest.fixture(scope="module")
def server(start_server, tiles):
    """A server with a style by day, another by night, and photos; guests of share links see none of them."""
    settings = {
        "MOTORPOOL_MAP_TILES": f"{tiles.url}/styles/day",
        "MOTORPOOL_MAP_TILES_DARK": f"{tiles.url}/styles/night",
        "MOTORPOOL_MAP_LAYERS": f"Satellite {tiles.url}/photos/{{z}}/{{x}}/{{y}} © Nobody",
        "MOTORPOOL_MAP_SHARE_TILES": "false",
    }
    with start_server(settings) as running:
        yield running


@pytest.fixture(autouse=True)
def all_is_well(tiles):
    """Each journey begins with a tile server that answers."""
    tiles.tiles = tiles.styles = "good"
    tiles.asked.clear()
    tiles.released.clear()
    yield
    tiles.released.set()


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

    def has(self, color):
        """Whether many pixels of the map have a color, given as `#rrggbb` or as numbers."""
        red, green, blue = ImageColor.getrgb(color) if isinstance(color, str) else color
        box = self.page.get_by_role("region", name="Map of the vehicles").bounding_box()
        clip = {"x": box["x"] + 80, "y": box["y"] + 60, "width": 300, "height": 300}
        picture = Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB")
        return dict(map(reversed, picture.getcolors(90_000))).get((red, green, blue), 0) > 300

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
    # The color of the mark is that of nothing else.
    guest.context.add_init_script("localStorage.setItem('motorpool.mapLayer', 'plain')")
    guest.log_in(f"/fleet?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    view = MapView(page)
    # The first steps have a link of the name until the position is there.
    row = page.get_by_role("link", name=re.compile("^Courier"))
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


def test_streets_are_drawn_in_both_themes_and_other_layers_are_chosen_by_keys(
    server, visitor, tiles, eventually
):
    guest = visitor(server, color_scheme="light")
    page, view = guest.page, MapView(guest.page)
    guest.log_in("/fleet?at=13/52.5/13.4")
    eventually(lambda: view.has(STREET["day"]))
    source = page.get_by_role("link", name="© Grid makers")
    expect(source).to_have_attribute("href", "https://example.org/copyright")
    expect(page.get_by_text("Natural Earth")).to_have_count(0)
    expect(page.get_by_text("alert(1)")).to_have_count(0)
    expect(page.locator(".maplibregl-ctrl-scale")).to_have_text("500\N{NO-BREAK SPACE}m")
    page.mouse.move(view.center[0], view.center[1])
    expect(page.locator(".map-pointer")).to_have_text(re.compile(r"52\.5\d+, 13\.4\d+|52\.49\d+, 13\.3\d+"))
    guest.assert_accessible()

    page.emulate_media(color_scheme="dark")
    eventually(lambda: view.has(STREET["night"]))
    expect(page).to_have_url(re.compile(r"at=13[./]"))
    page.emulate_media(color_scheme="light")
    eventually(lambda: view.has(STREET["day"]))

    button = page.get_by_role("button", name="Kind of map")
    button.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("menu", name="Kind of map")
    expect(menu.get_by_role("menuitemradio", name="Streets")).to_have_attribute("aria-checked", "true")
    expect(menu.get_by_role("menuitemradio", name="Streets")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    eventually(lambda: view.has(PHOTO))
    expect(page.get_by_text("© Nobody")).to_be_visible()
    expect(button).to_be_focused()
    page.reload()
    eventually(lambda: view.has(PHOTO))
    button.click()
    menu.get_by_role("menuitemradio", name="Plain").click()
    expect(page.get_by_text("Natural Earth")).to_be_visible()
    eventually(lambda: not view.has(PHOTO))
    assert not view.has(GROUND["day"])
    # Letters are those of this computer, and no request tells which page it is from.
    assert not [path for path in tiles.asked if path.startswith("/fonts")]
    assert tiles.referrers == []


@pytest.mark.parametrize(
    ("styles", "tiles_mode", "sentence"),
    [
        ("hang", "good", "No streets yet: nothing has come from {host}."),
        ("good", "hang", "No streets yet: nothing has come from {host}."),
        ("refuse", "good", "No streets: {host} answers 403."),
        ("broken", "good", "No streets: what {host} sends cannot be read."),
        ("good", "broken", "No streets: what {host} sends cannot be read."),
        ("good", "refuse", "No streets: {host} answers 403."),
    ],
)
def test_without_streets_the_map_says_why_and_works_without_asking_again(
    server, visitor, report, tiles, eventually, styles, tiles_mode, sentence
):
    tiles.styles, tiles.tiles = styles, tiles_mode
    report(*CENTER)
    guest = visitor(server)
    page, view = guest.page, MapView(guest.page)
    guest.refused_by = tiles.url
    guest.log_in(f"/fleet?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    host = tiles.url.removeprefix("http://")
    status = page.locator(".map-credits").get_by_role("status")
    expect(status).to_have_text(sentence.format(host=host))
    expect(page.locator(".map-canvas")).not_to_have_attribute("aria-busy", "true")
    expect(page.get_by_text("Natural Earth")).to_be_visible()
    eventually(lambda: view.is_marked(view.at(*CENTER)))
    if "hang" in {styles, tiles_mode}:
        return
    asked = len(tiles.asked)
    page.get_by_role("button", name="Zoom out").click()
    page.get_by_role("button", name="Zoom out").click()
    expect(page).to_have_url(re.compile(r"at=14[./]"))
    eventually(lambda: view.mark() is not None)
    assert len(tiles.asked) == asked
    # Tried again when the network is back, and by choice.
    tiles.styles = tiles.tiles = "good"
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    eventually(lambda: view.has(STREET["day"]))
    expect(status).to_have_text("")


def test_the_browser_of_a_guest_asks_no_other_server(server, visitor, report, tiles):
    report(*CENTER)
    with server.client() as client:
        device = next(each for each in client.get("/devices").json() if each["name"] == "Courier")
        form = {"deviceId": device["id"], "expiration": "2099-01-01T00:00:00Z"}
        token = client.post("/share/device", data=form).text
    guest = visitor(server)
    guest.open(f"/share#token={token}")
    expect(guest.page.get_by_text("Natural Earth")).to_be_visible()
    expect(guest.page.get_by_role("button", name="Kind of map")).to_have_count(0)
    assert tiles.asked == []

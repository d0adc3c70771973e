"""Journey 9: zones drawn with the mouse, and what happens when a vehicle leaves one."""

import math
import re

import httpx
import pytest
from playwright.sync_api import expect

ZOOM = 13
CENTER = (52.5, 13.4)
WORLD_PX = 512 * 2**ZOOM
METERS_PER_PX = 40_075_016.686 * math.cos(math.radians(CENTER[0])) / WORLD_PX


@pytest.fixture(scope="module")
def report(server):
    """`report(latitude, longitude)`: what `Shuttle`, the vehicle of the group `Shuttles`, sends."""
    with server.client() as client:
        group = client.post("/groups", json={"name": "Shuttles"}).json()["id"]
        body = {"name": "Shuttle", "uniqueId": "shuttle1", "groupId": group}
        # It is far away within a second.
        body["attributes"] = {"position.implausibleSpeed": 0}
        assert client.post("/devices", json=body).status_code == 200

    def send(latitude, longitude):
        values = {"id": "shuttle1", "lat": latitude, "lon": longitude, "speed": 20}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200

    return send


class Sheet:
    """The map of the zones, whose center is CENTER and stays there."""

    def __init__(self, page):
        self.page = page
        self.clicks = 0
        self.canvas = page.locator(".maplibregl-canvas")

    def drawing(self):
        """Wait until the mouse draws, on a map that has made room for the panel."""
        expect(self.page.get_by_role("complementary", name="Zone")).to_be_visible()
        width = self.page.locator(".map-canvas").evaluate("box => box.clientWidth")
        expect(self.canvas).to_have_js_property("clientWidth", width)
        expect(self.canvas).to_have_css("cursor", "crosshair")

    def press(self, locator):
        """Click something of the page, and count it."""
        locator.click()
        self.clicks += 1

    def point(self, right, down, *, times=1, button="left"):
        """Click so many pixels beside the center."""
        box = self.canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2 + right, box["y"] + box["height"] / 2 + down
        self.page.mouse.move(x - 3, y - 3)
        self.page.mouse.move(x, y)
        for _ in range(times):
            self.page.mouse.click(x, y, button=button)
            self.clicks += 1


def place(right, down):
    """Latitude and longitude of pixels beside CENTER, in Web Mercator."""
    scale = WORLD_PX / (2 * math.pi)
    north = math.asinh(math.tan(math.radians(CENTER[0]))) - down / scale
    return math.degrees(math.atan(math.sinh(north))), CENTER[1] + math.degrees(right / scale)


def metres(one, other):
    """Between two places that are near to each other."""
    north = (one[0] - other[0]) * 111_319.5
    return math.hypot(north, (one[1] - other[1]) * 111_319.5 * math.cos(math.radians(one[0])))


def places(text):
    """The pairs of numbers of an area, latitude first."""
    return [tuple(map(float, pair.split())) for pair in re.findall(r"[\d.]+ [\d.]+", text)]


def zones(server):
    with server.client() as client:
        return {each["name"]: each for each in client.get("/geofences").json()}


def test_a_circle_with_a_notice_takes_seven_clicks_and_the_vehicle_that_leaves_is_announced(
    server, visitor, report
):
    with server.client() as client:
        for zone in zones(server).values():
            assert client.delete(f"/geofences/{zone['id']}").status_code == 204
    report(*CENTER)
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/zones?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    sheet = Sheet(page)
    expect(page.get_by_text("No zones yet")).to_be_visible()
    sheet.press(page.get_by_role("button", name="Circle"))
    sheet.drawing()
    sheet.point(0, 0)
    sheet.point(150, 0)
    panel = page.get_by_role("complementary", name="Zone")
    expect(panel.get_by_text("1 vehicle is inside now")).to_be_visible()
    expect(panel.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Depot")
    sheet.press(panel.get_by_role("combobox", name="Groups"))
    sheet.press(panel.get_by_role("option", name="Shuttles"))
    sheet.press(panel.get_by_label("When a vehicle leaves"))
    sheet.press(panel.get_by_role("button", name="Save"))
    expect(page.get_by_role("link", name=re.compile("Depot"))).to_be_visible()
    assert sheet.clicks == 7

    expect(panel.get_by_role("heading", name="Depot")).to_be_visible()
    expect(panel.get_by_label("When a vehicle leaves")).to_be_checked()
    found = re.fullmatch(r"CIRCLE \(([\d.]+) ([\d.]+), ([\d.]+)\)", zones(server)["Depot"]["area"])
    latitude, longitude, radius = map(float, found.groups())
    assert metres((latitude, longitude), CENTER) < 2 * METERS_PER_PX
    assert abs(radius - 150 * METERS_PER_PX) < 3 * METERS_PER_PX

    report(*CENTER)
    report(*place(300, 0))
    expect(page.get_by_text(re.compile("Shuttle.*Depot"))).to_be_visible()
    expect(panel.get_by_text("0 vehicles are inside now")).to_be_visible()
    guest.assert_accessible()


def test_polygons_and_corridors_are_sent_with_latitude_first(server, visitor, report):
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/zones?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    sheet = Sheet(page)
    corners = [(-100, -80), (120, -60), (60, 110)]
    page.get_by_role("button", name="Polygon").click()
    sheet.drawing()
    for corner in corners[:-1]:
        sheet.point(*corner)
    sheet.point(*corners[-1], times=2)
    panel = page.get_by_role("complementary", name="Zone")
    expect(panel.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Yard")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="Yard")).to_be_visible()
    area = zones(server)["Yard"]["area"]
    assert area.startswith("POLYGON ((")
    ring = places(area)
    assert ring[0] == ring[-1]
    assert all(min(metres(each, place(*corner)) for each in ring) < 2 * METERS_PER_PX for corner in corners)

    way = [(-200, 0), (0, 40), (180, -30)]
    page.get_by_role("button", name="Corridor").first.click()
    sheet.drawing()
    for point in way[:-1]:
        sheet.point(*point)
    sheet.point(*way[-1], times=2)
    expect(panel.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Bus lane")
    panel.get_by_label("Width to either side (m)").fill("80")
    panel.get_by_role("button", name="Save").click()
    expect(panel.get_by_role("heading", name="Bus lane")).to_be_visible()
    lane = zones(server)["Bus lane"]
    assert lane["area"].startswith("LINESTRING (")
    assert lane["attributes"]["polylineDistance"] == 80
    line = places(lane["area"])
    assert len(line) == len(way)
    assert all(metres(one, place(*point)) < 2 * METERS_PER_PX for one, point in zip(line, way, strict=True))


def test_a_zone_that_is_opened_by_its_address_comes_into_view(server, visitor, eventually):
    with server.client() as client:
        far = {"name": "Far", "area": "CIRCLE (48.1 11.5, 9000)"}
        edge = "52.597 13.495, 52.597 13.505, 52.603 13.505, 52.603 13.495, 52.597 13.495"
        hole = "52.599 13.498, 52.599 13.502, 52.601 13.502, 52.599 13.498"
        near = {"name": "Near", "area": f"POLYGON (({edge}), ({hole}))"}
        for body in (far, near):
            found = client.post("/geofences", json=body).json()
    guest = visitor(server)
    page = guest.page
    guest.log_in(f"/zones/{found['id']}")
    panel = page.get_by_role("complementary", name="Zone")
    expect(panel.get_by_role("heading", name="Near")).to_be_visible()
    # What the map cannot change is kept, and says so.
    expect(panel.get_by_text("It is kept as it is")).to_be_visible()
    page.locator(".maplibregl-canvas").hover()

    def view():
        # The address has what the map shows once it was moved by hand.
        page.mouse.wheel(0, 1)
        # A movement ends some tenths of a second after the wheel.
        page.wait_for_timeout(700)
        found = re.search(r"at=([\d.]+)/([\d.]+)/([\d.]+)", page.url)
        zoom, *place = map(float, found.groups()) if found else (0,)
        return zoom > 12 and place

    assert metres(eventually(view), (52.6, 13.5)) < 1000


def test_the_map_of_the_fleet_shows_zones_and_says_what_is_at_a_place(server, visitor, report, eventually):
    report(*place(0, 60))
    with server.client() as client:
        body = {"name": "Mall", "area": f"CIRCLE ({CENTER[0]} {CENTER[1]}, 500)"}
        mall = client.post("/geofences", json=body).json()["id"]
        mark = "<name>Pump</name><Point><coordinates>13.4,52.5</coordinates></Point>"
        stations = f"<kml><Placemark>{mark}</Placemark></kml>"
        assert client.post("/server/file/stations.kml", content=stations).status_code == 200
        user = client.get("/session").json()
        assert (
            client.put(f"/users/{user['id']}", json={**user, "poiLayer": "/stations.kml"}).status_code == 200
        )
    guest = visitor(server)
    page = guest.page
    with page.expect_response("**/stations.kml") as read:
        guest.log_in(f"/fleet?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    assert read.value.status == 200
    sheet = Sheet(page)
    expect(page.get_by_role("button", name="Hide names of zones")).to_be_visible()

    def menu(right, down, name):
        sheet.point(right, down, button="right")
        page.get_by_role("menuitem", name=name).click()

    menu(0, 0, "What is here")
    dialog = page.get_by_role("dialog", name="What is here")
    expect(dialog).to_contain_text("52.50")
    expect(dialog).to_contain_text("Berlin")
    expect(dialog.get_by_role("link", name="Mall")).to_be_visible()
    expect(dialog.get_by_role("listitem").filter(has_text="Shuttle")).to_contain_text(
        re.compile(r"3[45]\d m")
    )
    guest.assert_accessible()
    page.keyboard.press("Escape")

    menu(-150, -60, "Measure from here")
    sheet.point(150, -60)
    expect(page.get_by_text("1.7 km")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("0 m", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("0 m", exact=True)).to_have_count(0)

    menu(200, 150, "New zone here")
    panel = page.get_by_role("complementary", name="Zone")
    latitude, longitude = place(200, 150)
    expect(panel.get_by_label("Latitude")).to_have_value(re.compile(f"^{latitude:.3f}"))
    expect(panel.get_by_label("Longitude")).to_have_value(re.compile(f"^{longitude:.3f}"))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    expect(panel).to_have_count(0)

    guest.open(f"/fleet?at={ZOOM}/{CENTER[0]}/{CENTER[1]}")
    expect(page.get_by_role("link", name=re.compile("Shuttle"))).to_be_visible()

    def opened():
        # Zones are there some time after the map is.
        sheet.point(-40, 0)
        return page.url.startswith(f"{server.url}/zones/{mall}")

    eventually(opened)
    expect(panel.get_by_role("heading", name="Mall")).to_be_visible()

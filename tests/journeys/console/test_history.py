"""A day of a vehicle: route, cursor, graph, lists and files agree (docs/console.md#history)."""

import io
import re
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime, timedelta

import httpx
import openpyxl
import pytest
from playwright.sync_api import expect

TODAY = datetime(2026, 5, 2, 12, tzinfo=UTC)
"""What the browser's clock shows, so that `yesterday` is the day of the drives."""
DRIVES = (datetime(2026, 5, 1, 14, tzinfo=UTC), datetime(2026, 5, 1, 15, tzinfo=UTC))
SECONDS_APART = 20
FIXES = 40
DEGREES = 0.004
"""Between two fixes to the east, at 60 degrees north: 222 m."""
KNOTS = 21.6
GPX = "{http://www.topografix.com/GPX/1/0}"


@pytest.fixture(scope="module")
def device(server):
    """A vehicle that drove twice on the day before, to the east and back, and stood between."""
    with server.client() as client:
        made = client.post("/devices", json={"name": "Courier", "uniqueId": "courier1"})
        assert made.status_code == 200, made.text
        with httpx.Client(base_url=f"http://{server.host}:{server.osmand_port}") as phone:
            for values in reports():
                assert phone.get("/", params={"id": "courier1", **values}).status_code == 200
        return made.json()


def reports():
    """What the phone sends, in its order."""
    for drive, course in zip(DRIVES, (90, 270), strict=True):
        for index in range(FIXES):
            way = index if course == 90 else FIXES - 1 - index
            moves = index < FIXES - 1
            yield {
                "timestamp": int((drive + timedelta(seconds=index * SECONDS_APART)).timestamp()),
                "lat": 60,
                "lon": 25 + way * DEGREES,
                "speed": KNOTS if moves else 0,
                "bearing": course,
            }
        for minutes in (20, 30, 40):
            yield {
                "timestamp": int((drive + timedelta(minutes=minutes)).timestamp()),
                "lat": 60,
                "lon": 25 + (FIXES - 1 if course == 90 else 0) * DEGREES,
                "speed": 0,
            }


def cursor_of(page):
    """The instant that the history shows."""
    seconds = page.get_by_role("slider", name="Time that is shown").get_attribute("aria-valuenow")
    return datetime.fromtimestamp(int(seconds), UTC)


def test_a_day_by_keys_and_by_clicks(server, visitor, device, eventually):
    guest = visitor(server)
    page = guest.page
    page.clock.install(time=TODAY)
    guest.log_in()
    expect(page.get_by_role("button", name="Zoom in")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("Courier")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Courier")).to_be_visible()

    # Job 6: `h` `y` `e`.
    expect(page.get_by_role("heading", name="Courier")).to_be_focused()
    page.keyboard.press("h")
    expect(page.get_by_text("No positions in this time")).to_be_visible()
    page.keyboard.press("y")
    rows = page.get_by_role("list", name="Trips and stops").get_by_role("listitem")
    with server.client() as client:
        day = {"deviceId": device["id"], "from": "2026-05-01T00:00:00Z", "to": "2026-05-01T23:59:59Z"}
        trips = client.get("/reports/trips", params=day).json()
        stops = client.get("/reports/stops", params=day).json()
    assert len(trips) == 2
    expect(rows).to_have_count(len(trips) + len(stops))
    expect(page.get_by_text("2 trips")).to_be_visible()
    lane = page.get_by_role("region", name="Trips", exact=True).get_by_role("listitem")
    expect(lane).to_have_count(len(trips) + len(stops))
    with page.expect_download() as saved:
        page.keyboard.press("e")
    book = openpyxl.load_workbook(io.BytesIO(saved.value.path().read_bytes()))
    assert book.sheetnames == ["Trips Courier", "Stops Courier", "Route Courier"]

    # Job 3, without the film: a time is typed wherever the focus is.
    page.keyboard.type("14:05")
    page.keyboard.press("Enter")
    eventually(lambda: cursor_of(page) == DRIVES[0] + timedelta(minutes=5))
    slider = page.get_by_role("slider", name="Time that is shown")
    expect(slider).to_be_focused()
    expect(page.get_by_role("group", name="Replay")).to_contain_text("14:05:00")
    expect(page.get_by_role("group", name="Replay")).to_contain_text("40 km/h")
    trip = rows.filter(has_text="Trip").first.get_by_role("button")
    expect(trip).to_have_attribute("aria-current", "true")
    expect(page.get_by_role("img", name="Speed in km/h").locator("canvas")).to_be_visible()
    expect(page).to_have_url(re.compile("at=2026-05-01T14:05:00Z&view="))
    page.get_by_role("button", name="Values").click()
    east = 25 + 15 * DEGREES
    expect(page.get_by_text(f"60.00000, {east:.5f}")).to_be_visible()

    # The marker stands on the line where the vehicle was: a click there leads to the same time.
    marker = page.get_by_role("img", name="The vehicle at this time")
    box = marker.bounding_box()
    page.keyboard.press("Shift+ArrowRight")
    eventually(lambda: cursor_of(page) == DRIVES[0] + timedelta(minutes=6))
    eventually(lambda: marker.bounding_box()["x"] > box["x"])
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    eventually(lambda: abs(cursor_of(page) - DRIVES[0] - timedelta(minutes=5)) < timedelta(seconds=40))

    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    expect(page.get_by_label("Speed of the replay")).to_have_value("2")
    before = cursor_of(page)
    page.get_by_role("button", name="Play", exact=True).first.click()
    eventually(lambda: cursor_of(page) > before)
    page.get_by_role("button", name="Pause", exact=True).first.click()

    # What is clicked in the list is shown.
    page.get_by_role("button", name="Trips and stops").click()
    rows.last.get_by_role("button").click()
    eventually(lambda: cursor_of(page) > DRIVES[1])
    guest.assert_accessible()

    with page.expect_download() as saved:
        page.get_by_role("link", name="GPX").click()
    points = ElementTree.parse(saved.value.path()).getroot().iter(f"{GPX}trkpt")
    assert len(list(points)) == len(list(reports()))

    # Back undoes the choice of a span, and no movement of the cursor.
    page.keyboard.press("w")
    expect(page).to_have_url(re.compile("from=now/w"))
    page.go_back()
    expect(page).to_have_url(re.compile("from=now-1d/d"))
    expect(rows).to_have_count(len(trips) + len(stops))
    page.go_back()
    expect(page.get_by_text("No positions in this time")).to_be_visible()
    page.get_by_role("button", name=re.compile("Show the last position")).click()
    expect(rows.first).to_be_visible()

    # Job 6 in four clicks.
    guest.draw_no_maps()
    guest.open("/fleet")
    page.get_by_role("link", name=re.compile("^Courier")).click()
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="Yesterday").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Excel").click()
    assert re.fullmatch(
        r"history_Courier[\w-]*_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.xlsx", saved.value.suggested_filename
    )
    page.set_viewport_size({"width": 390, "height": 844})
    guest.assert_fits()

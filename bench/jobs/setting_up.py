"""Jobs 8 and 10: a zone that tells when a group leaves it, and a new tracker."""

from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene

ZONE = "Bench"
TRACKER = "bench-10"
_PLACE = (52.52, 13.40)
_RADIUS_PX = 60


def draw_zone(hand: Hand, scene: Scene) -> float:
    """Draw a circle, name it, choose the group and the notice."""
    scene.remove("/geofences", ZONE)
    page = hand.page
    latitude, longitude = _PLACE
    circle = page.get_by_role("button", name="Circle").first
    hand.begin(f"{scene.url}/zones?at=13/{latitude}/{longitude}", circle)
    page.get_by_role("button", name="Zoom in").wait_for()
    hand.press(circle)
    panel = page.get_by_role("complementary", name="Zone")
    panel.wait_for()
    canvas = page.locator(".maplibregl-canvas")
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.maplibregl-canvas')).cursor === 'crosshair'"
    )
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    hand.press_at(x, y)
    hand.press_at(x + _RADIUS_PX, y)
    panel.get_by_label("Name").fill(ZONE)
    hand.press(panel.get_by_role("combobox", name="Groups"))
    hand.press(panel.get_by_role("option", name="Deliveries"))
    hand.press(panel.get_by_label("When a vehicle leaves"))
    hand.press(panel.get_by_role("button", name="Save"))
    seconds = hand.shown(panel.get_by_role("heading", name=ZONE))
    scene.remove("/geofences", ZONE)
    return seconds


def connect_tracker(hand: Hand, scene: Scene) -> float:
    """Choose what it is, enter its number, and wait; the seconds are those from its first report."""
    scene.remove("/devices", TRACKER)
    page = hand.page
    scene.open_fleet(hand, scene.driving.name)
    hand.press(page.get_by_role("link", name="Connect a tracker").first)
    hand.press(page.get_by_role("link", name="OsmAnd"))
    number = page.get_by_label("Identifier")
    hand.press(number)
    number.fill(TRACKER)
    hand.press(page.get_by_role("button", name="Add it and wait"))
    said = page.get_by_role("region", name="Wait for it").get_by_role("status")
    said.get_by_text("Nothing heard yet").wait_for()
    scene.report(TRACKER, *_PLACE)
    hand.sent()
    seconds = hand.shown(said.get_by_text("It reports", exact=True))
    hand.press(page.get_by_role("link", name="Open the vehicle"))
    page.get_by_role("complementary", name="Vehicle").wait_for()
    scene.remove("/devices", TRACKER)
    return seconds

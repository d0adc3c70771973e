"""Journey 18: the console on a phone (docs/console.md#layout)."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from tests.journeys.test_ticket_of_an_alarm import SOS

from motorpool.bench.vehicles.jt808.terminal import encode_location

PHONE = "013900001801"
NAME = "Van 1801"
SIZE = {"width": 390, "height": 844}
TARGET_PX = 44
# What can be pressed and is smaller than a fingertip, but for links within sentences (WCAG 2.2, 2.5.8).
SMALL = """
(least) => [...document.querySelectorAll("button, a[href], input, select, summary, [role=option]")]
  .filter((each) => each.checkVisibility({ checkVisibilityCSS: true }) && !each.matches(":disabled, .skip"))
  .filter((each) => !(each.matches("a, .link") && getComputedStyle(each).display === "inline"))
  .map((each) => (/checkbox|radio/.test(each.type) && each.closest(".field, .table-check")) || each)
  // Some links lead from the whole row that they are in.
  .map((each) => (getComputedStyle(each, "::after").position === "absolute" ? each.parentElement : each))
  .map((each) => [each.outerHTML.slice(0, 160), each.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && box.height > 1)
  .filter(([, box]) => Math.round(box.width) < least || Math.round(box.height) < least)
  .map(([html, box]) => `${Math.round(box.width)}x${Math.round(box.height)} ${html}`)
"""


@pytest.fixture(scope="module")
def server(server_with_alarms):
    return server_with_alarms


@pytest.fixture
def van(server, connected):
    """A signed-in terminal with two cameras."""
    with connected(server, PHONE) as peer, server.client() as client:
        (device,) = client.get("/devices", params={"uniqueId": PHONE.lstrip("0")}).json()
        device |= {"name": NAME, "attributes": {"channels": 2}}
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        yield peer


def present():
    """The time of the server's process, in whole seconds."""
    return datetime.fromtimestamp(int(time.time()), UTC)  # noqa: TID251


def assert_for_fingers(guest):
    guest.assert_fits()
    assert guest.page.evaluate(SMALL, TARGET_PX) == []


def test_place_video_and_alarm_of_a_vehicle_on_a_phone(server, visitor, van):
    van.send(van.terminal.location(encode_location(41.15, -8.61, present())))
    guest = visitor(server, viewport=SIZE, has_touch=True, is_mobile=True)
    page = guest.page
    with page.expect_websocket() as opened:
        guest.log_in("/fleet")
    opened.value.wait_for_event("framereceived")
    row = page.get_by_role("link", name=re.compile(NAME))
    expect(row).to_be_visible()
    expect(page.get_by_role("button", name="Zoom in")).to_be_visible()
    assert_for_fingers(guest)

    # The sheet over the map has three heights, by a tap or by dragging.
    handle = page.locator(".sheet-handle")
    sheet = page.get_by_role("region", name="Vehicles")
    expect(handle).to_have_accessible_name("Larger")
    handle.tap()
    expect(page.get_by_role("button", name="Zoom in")).not_to_be_in_viewport()
    expect(handle).to_have_accessible_name("Fold away")
    handle.tap()
    expect(row).to_be_hidden()
    expect(sheet.get_by_role("searchbox")).to_be_in_viewport()
    assert_for_fingers(guest)
    box = handle.bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(middle, box["y"] - 200, steps=3)
    page.mouse.move(middle, box["y"] - 330)
    page.mouse.up()
    expect(handle).to_have_accessible_name("Larger")

    # Job 1: one tap.
    row.tap()
    panel = page.get_by_role("complementary", name="Vehicle")
    expect(panel).to_contain_text("41.15000, -8.61000")
    expect(panel.get_by_role("link", name="Live")).to_be_in_viewport()
    assert_for_fingers(guest)

    # Job 2: the second tap. One camera stands above the other.
    panel.get_by_role("link", name="Live").tap()
    tiles = page.get_by_role("article")
    expect(tiles).to_have_count(2)
    expect(tiles.first.get_by_role("status")).not_to_be_empty()
    one, other = (tile.bounding_box() for tile in tiles.all())
    assert one["x"] == other["x"]
    assert one["y"] + one["height"] <= other["y"]
    assert_for_fingers(guest)
    guest.assert_accessible()

    # Job 5: one tap to the proof of an alarm, one to its ticket.
    van.send(van.terminal.location(encode_location(41.15, -8.61, present(), alarm=SOS)))
    notice = page.get_by_role("alert").filter(has_text="emergency button")
    notice.get_by_role("button", name="Show").tap()
    expect(page.get_by_role("heading", name="Alarm: emergency button")).to_be_visible()
    expect(page.get_by_role("button", name="Zoom in")).to_be_visible()
    assert_for_fingers(guest)
    page.get_by_role("button", name="Make a ticket").tap()
    expect(page.get_by_role("list", name=re.compile("Evidence of ticket"))).to_be_visible()

    # What the bar has no room for.
    page.get_by_role("button", name="More", exact=True).tap()
    expect(page.get_by_role("menuitem", name="Log out")).to_be_visible()
    assert_for_fingers(guest)
    page.get_by_role("menuitem", name="Account").tap()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    guest.assert_fits()

    # Times come from the pickers of the phone.
    page.get_by_role("navigation", name="Places").get_by_role("link", name=re.compile("^Events")).tap()
    page.get_by_role("button", name="All", exact=True).tap()
    # Filters are folded behind the span that they have.
    page.locator(".filter-bar-toggle").tap()
    begin = present() - timedelta(hours=30)
    page.get_by_label("From", exact=True).fill(f"{begin:%Y-%m-%dT%H:%M}")
    expect(page).to_have_url(re.compile(f"from={begin:%Y-%m-%dT%H:%M}:00Z&to="))
    expect(page.get_by_label("To", exact=True)).to_have_value(re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d$"))
    assert_for_fingers(guest)

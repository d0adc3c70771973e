"""The list of vehicles: job 1 by clicks and by keys."""

import re

import httpx
import pytest
from playwright.sync_api import expect

JUMPING = {"position.implausibleSpeed": 0}
"""A vehicle that is far away within a second."""


@pytest.fixture(scope="module")
def report(server):
    """`report(number, **values)`: what a device sends by OsmAnd."""

    def send(number, **values):
        known = {"id": number, "lat": 52.5, "lon": 13.4, **values}
        sent = httpx.get(f"http://{server.host}:{server.osmand_port}/", params=known)
        assert sent.status_code == 200

    return send


@pytest.fixture(scope="module")
def fleet(server, report):
    """Ids of vehicles by name: one drives, one stands, the others never reported."""
    with server.client() as client:
        ids = {}
        for index in range(60):
            name = f"Van {index + 1}"
            made = client.post(
                "/devices", json={"name": name, "uniqueId": f"no{index:02}", "attributes": JUMPING}
            )
            assert made.status_code == 200, made.text
            ids[name] = made.json()["id"]
    report("no06", speed=30)
    report("no07", speed=0)
    return ids


def test_where_a_vehicle_is_takes_one_click_or_three_keys(server, visitor, fleet, report):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in()
    rows = page.get_by_role("listitem")
    expect(page.get_by_text("60 vehicles")).to_be_visible()
    # Only what is in view is drawn.
    assert rows.count() < 40
    # Also after the tools and the count of the list have come, which make it lower.
    guest.open(f"/vehicles/{fleet['Van 40']}")
    expect(page.get_by_text("60 vehicles")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Van 40 "))).to_be_in_viewport(ratio=0.99)
    guest.open("/fleet")

    # Keys work once the place is there.
    expect(page.get_by_text("60 vehicles")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("no06")
    expect(page.get_by_text("1 of 60")).to_be_visible()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Vehicle")
    expect(panel.get_by_role("heading", name="Van 7")).to_be_visible()
    expect(panel).to_contain_text("56 km/h")
    expect(panel).to_contain_text("52.50000, 13.40000")
    assert page.url == f"{server.url}/vehicles/{fleet['Van 7']}?keyword=no06"
    guest.assert_accessible()

    # The panel follows what arrives.
    report("no06", speed=0, lat=52.6)
    expect(panel).to_contain_text("52.60000, 13.40000")
    expect(panel).not_to_contain_text("Moving")
    # Once to leave the field, once to leave the vehicle.
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)

    page.get_by_label("Search name or number").fill("")
    page.get_by_role("link", name=re.compile("Van 8 ")).click()
    expect(panel.get_by_role("heading", name="Van 8")).to_be_visible()

"""The list of vehicles: job 1 by clicks and by keys, filters in the address, what arrives meanwhile."""

import re

import httpx
import pytest
from playwright.sync_api import expect


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
    """Ids of vehicles by name: one drives, one stands, the others never reported; half are in a group."""
    with server.client() as client:
        north = client.post("/groups", json={"name": "North depot"}).json()["id"]
        ids = {}
        for index in range(60):
            name = f"Van {index + 1}"
            made = client.post(
                "/devices", json={"name": name, "uniqueId": f"no{index:02}", "groupId": north * (index % 2)}
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


def test_a_user_chooses_what_the_rows_show(server, visitor, fleet):
    with server.client() as client:
        van = client.get(f"/devices/{fleet['Van 8']}").json()
        assert client.put(f"/devices/{van['id']}", json={**van, "model": "FMB920"}).status_code == 200
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/account")
    shown = page.get_by_role("group", name="Rows of the list of vehicles show")
    expect(shown.get_by_label("Number")).to_be_checked()
    for label in ("Group", "Model"):
        shown.get_by_label(label).click()
        expect(shown.get_by_label(label)).to_be_checked()
        expect(shown.get_by_label(label)).to_be_enabled()
    guest.assert_accessible()
    row = page.get_by_role("listitem").filter(has_text="no07")
    page.get_by_role("link", name="Fleet").click()
    expect(row).to_contain_text("no07 · North depot · FMB920")
    guest.assert_accessible()
    # It is the user's, wherever the console is opened.
    other = visitor(server, webgl=False)
    other.log_in()
    expect(other.page.get_by_role("listitem").filter(has_text="no07")).to_contain_text("FMB920")
    page.get_by_role("link", name="Account").click()
    for label in ("Group", "Model"):
        shown.get_by_label(label).click()
        expect(shown.get_by_label(label)).not_to_be_checked()
        expect(shown.get_by_label(label)).to_be_enabled()


def test_filters_are_in_the_address_and_back_undoes_them(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in("/fleet?status=offline")
    expect(page.get_by_role("button", name="Offline")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("combobox", name="Group").click()
    page.get_by_role("option", name="North depot").click()
    expect(page.get_by_text(re.compile(r"^\d+ of 60$"))).to_be_visible()
    assert re.search(r"\?status=offline&groupId=\d+$", page.url)
    page.get_by_label("Search name or number").fill("nowhere")
    expect(page.get_by_text("No vehicle matches")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_text("60 vehicles")).to_be_visible()
    assert page.url == f"{server.url}/fleet"
    page.go_back()
    expect(page.get_by_text("No vehicle matches")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("combobox", name="Group")).to_have_value("")
    assert page.url == f"{server.url}/fleet?status=offline"


def test_a_vehicle_that_is_somebody_elses_and_one_that_is_none_look_the_same(server, visitor, fleet):
    with server.client() as client:
        user = {"name": "Eve", "email": "eve@example.org", "password": "parking garage 7"}
        assert client.post("/users", json=user).status_code == 200
    guest = visitor(server, webgl=False)
    unknown = 10_000
    guest.expected |= {(404, f"/api/devices/{each}") for each in (fleet["Van 7"], unknown)}
    guest.log_in(f"/vehicles/{fleet['Van 7']}", "eve@example.org", "parking garage 7")
    words = "This vehicle does not exist, or is not yours."
    expect(guest.page.get_by_text(words)).to_be_visible()
    guest.open(f"/vehicles/{unknown}")
    expect(guest.page.get_by_text(words)).to_be_visible()


def test_a_vehicle_that_is_added_meanwhile_appears(server, visitor, report):
    guest = visitor(server, webgl=False)
    guest.log_in("/fleet?keyword=late")
    expect(guest.page.get_by_text("No vehicle matches")).to_be_visible()
    with server.client() as client:
        made = client.post("/devices", json={"name": "Latecomer", "uniqueId": "late1"})
        assert made.status_code == 200
    report("late1")
    expect(guest.page.get_by_role("link", name=re.compile("Latecomer"))).to_be_visible()
    menu = guest.page.get_by_role("button", name="What to do with Latecomer")
    menu.click()
    guest.assert_accessible()
    guest.page.get_by_role("menuitem", name="Open", exact=True).click()
    expect(guest.page.get_by_role("heading", name="Latecomer")).to_be_visible()
    # Other tests count the vehicles.
    with server.client() as client:
        assert client.delete(f"/devices/{made.json()['id']}").status_code == 204


def test_an_alarm_is_announced_over_any_place_and_one_key_leads_to_its_proof(server, visitor, fleet, report):
    with server.client() as client:
        wanted = {"type": "alarm", "notificators": "web", "always": True, "attributes": {"alarms": "sos"}}
        assert client.post("/notifications", json=wanted).status_code == 200
    guest = visitor(server, webgl=False)
    with guest.page.expect_websocket() as opened:
        guest.log_in("/account")
    opened.value.wait_for_event("framereceived")
    report("no07", alarm="sos")
    expect(guest.page.get_by_role("alert")).to_contain_text("Van 8")
    guest.assert_accessible()
    guest.page.keyboard.press("n")
    expect(guest.page.get_by_role("heading", name="Alarm: emergency button")).to_be_visible()
    expect(guest.page.get_by_role("link", name="Van 8")).to_be_visible()


def test_a_list_that_could_not_be_read_counts_no_vehicles(server, visitor, fleet):
    guest = visitor(server, webgl=False)
    page = guest.page
    page.route("**/api/devices?*", lambda route: route.abort())
    guest.log_in()
    listed = page.get_by_role("region", name="Vehicles")
    expect(listed.get_by_role("status", name="Loading")).to_be_visible()
    expect(listed).not_to_contain_text("vehicles")
    page.unroute("**/api/devices?*")
    page.reload()
    expect(listed).to_contain_text(re.compile(r"\d\d vehicles"))
